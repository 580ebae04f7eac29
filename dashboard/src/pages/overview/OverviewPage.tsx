import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export default function OverviewPage() {
  return <PageHeader title={texts.overview.title} />;
}
