import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export default function ProfilePage() {
  return <PageHeader title={texts.profile.title} />;
}
