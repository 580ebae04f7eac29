import { Group, Progress, Text, Tooltip } from '@mantine/core';
import type { Period, UsageOfPeriod } from '../../api/limits';
import { texts } from '../../texts';
import { useNow } from '../useNow';
import { periodBarTexts } from './periodBar';

interface Props {
  period: Period;
  usage: UsageOfPeriod;
  /** For lists: smaller, without the time of the reset. */
  compact?: boolean;
}

const colors = { normal: 'var(--km-accent)', warn: 'var(--km-warn)', bad: 'var(--km-bad)' };

/** What was used of a limit per day, week or month. The tooltip shows quota units. */
export function PeriodBar({ period, usage, compact }: Props) {
  const { percent, tone, used, resets, label, details } = periodBarTexts(period, usage, useNow());
  const { usedUp } = texts.limits.bar;
  const rest = compact ? tone === 'bad' && usedUp : tone === 'bad' ? `${usedUp} · ${resets}` : resets;
  return (
    <Tooltip label={details}>
      <div className="tabular">
        <Group gap="0 var(--mantine-spacing-xs)" justify="space-between" mb={compact ? 4 : 6}>
          <Text size={compact ? 'xs' : 'sm'} fw={500}>
            {used}
          </Text>
          {rest && (
            <Text size={compact ? 'xs' : 'sm'} c={tone === 'bad' ? 'var(--km-bad)' : 'dimmed'}>
              {rest}
            </Text>
          )}
        </Group>
        <Progress.Root size={compact ? 4 : 6}>
          <Progress.Section value={percent} color={colors[tone]} aria-label={label} />
        </Progress.Root>
      </div>
    </Tooltip>
  );
}
