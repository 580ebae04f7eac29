import { Badge, VisuallyHidden } from '@mantine/core';
import { usePendingRequestCount } from '../api/adminRequests';
import { formatInteger } from '../format/money';
import { texts } from '../texts';

/** How many people wait for an answer of an administrator; nothing for nobody. */
export function PendingRequestsBadge() {
  const { data: count = 0 } = usePendingRequestCount();
  if (count === 0) return null;
  return (
    <Badge bg="var(--km-warn-tint)" c="var(--km-warn)" className="tabular">
      <span aria-hidden>{formatInteger(count)}</span>
      <VisuallyHidden>{texts.adminRequests.pendingCount(formatInteger(count))}</VisuallyHidden>
    </Badge>
  );
}
