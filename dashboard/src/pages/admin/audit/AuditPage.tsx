import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';

export default function AuditPage() {
  return <PageHeader title={texts.adminAudit.title} />;
}
