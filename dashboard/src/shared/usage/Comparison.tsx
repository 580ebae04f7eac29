import { Text } from '@mantine/core';
import { type Report, type UsageOptions, useUsageReport } from '../../api/usageReports';
import { formatDays } from '../../format/calendar';
import { formatPercentChange } from '../../format/percent';
import { texts } from '../../texts';
import { rangeBefore } from './range';

interface Props {
  days: Report;
  today: string;
  options: UsageOptions;
}

/** How the spend differs from that of as many days before. Nothing if there was none. */
export function Comparison({ days, today, options }: Props) {
  const range = rangeBefore({ start: days.from, end: days.to });
  const { data: before } = useUsageReport({ ...options, range, groupBy: 'day' });
  const isLoaded = before?.from === range.start && before.to === range.end;
  if (!isLoaded || before.total.quota === 0) return null;
  const change = formatPercentChange(before.total.quota, days.total.quota);
  return (
    <Text size="sm" c="dimmed">
      {texts.usage.against(change, formatDays(range.start, range.end, today))}
    </Text>
  );
}
