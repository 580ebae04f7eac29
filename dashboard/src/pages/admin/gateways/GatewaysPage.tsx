import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';

export default function GatewaysPage() {
  return <PageHeader title={texts.adminGateways.title} />;
}
