import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';

export default function UsersPage() {
  return <PageHeader title={texts.adminUsers.title} />;
}
