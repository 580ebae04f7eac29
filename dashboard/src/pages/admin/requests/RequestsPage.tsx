import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';

export default function RequestsPage() {
  return <PageHeader title={texts.adminRequests.title} />;
}
