import { Text } from '@mantine/core';
import type { RankingReport } from '../../api/usageReports';
import { formatDays } from '../../format/calendar';
import { formatPercentChange } from '../../format/percent';
import { texts } from '../../texts';
import { Money } from '../Money';

const words = texts.usage.comparison;

interface Props {
  report: RankingReport;
  /** Another report is loading. */
  isOld: boolean;
  today: string;
}

/** How the spend differs from that of the other days. Nothing without a comparison. */
export function Comparison({ report, isOld, today }: Props) {
  const { total, compare_from, compare_to } = report;
  if (!total.before || !total.change || !compare_from || !compare_to) return null;
  const days = formatDays(compare_from, compare_to, today);
  return (
    <Text size="sm" c="dimmed" opacity={isOld ? 0.6 : undefined}>
      {total.before.quota === 0 ? (
        words.nothingThen(days)
      ) : (
        <>
          <Money units={total.change.quota} change fw={600} /> ·{' '}
          {words.against(formatPercentChange(total.before.quota, total.quota), days)}
        </>
      )}
      {report.to >= today && ` · ${words.todayRuns}`}
    </Text>
  );
}
