import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export default function KeysPage() {
  return <PageHeader title={texts.keys.title} />;
}
