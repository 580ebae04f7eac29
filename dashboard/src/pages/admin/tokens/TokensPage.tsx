import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';

export default function TokensPage() {
  return <PageHeader title={texts.adminTokens.title} />;
}
