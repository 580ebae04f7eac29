import { Text } from '@mantine/core';
import { useRefusedRequests } from '../../api/refusedRequests';
import type { PastRequest } from '../../api/requestHistory';
import type { UsageScope } from '../../api/usageReports';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import { refusedCount } from './refusedCount';
import { optionsOf, type RequestFilters } from './requestFilters';

interface Props {
  scope: UsageScope;
  range: { start: string; end: string };
  filters: RequestFilters;
  rows: PastRequest[];
}

/** How many of the refused requests have a row: only samples are kept. */
export function RefusedCount({ scope, range, filters, rows }: Props) {
  const { tokenId, userId } = optionsOf(filters);
  const { data } = useRefusedRequests({ scope, range, tokenId, userId });
  const count = data && refusedCount(data, filters);
  const shown = rows.filter((row) => row.refusal && row.token_id != null).length;
  if (count === undefined || count < shown) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      {texts.usage.requestHistory.shownOf(formatInteger(shown), formatInteger(count))}
    </Text>
  );
}
