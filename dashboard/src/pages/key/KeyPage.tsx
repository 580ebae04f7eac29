import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';

export default function KeyPage() {
  return <PageHeader title={texts.key.title} />;
}
