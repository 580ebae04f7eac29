import { Badge, VisuallyHidden } from '@mantine/core';
import { usePendingRequestCount } from '../api/adminRequests';
import { formatInteger } from '../format/locale';
import { texts } from '../texts';

/** The number of pending requests. Empty if there are none. */
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
