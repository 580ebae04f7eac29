import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export default function EnablementPage() {
  return <PageHeader title={texts.enablement.title} />;
}
