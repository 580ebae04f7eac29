import { Stack, Text } from '@mantine/core';
import type { PeriodUsage } from '../../api/limits';
import { texts } from '../../texts';
import { PeriodBar } from './PeriodBar';
import { limitedPeriods } from './periodBar';

interface Props {
  usage: PeriodUsage;
  /** Whose limits they are. */
  of: keyof typeof texts.limits.refused;
}

/** A bar for every period that has a limit. */
export function PeriodBars({ usage, of }: Props) {
  return (
    <Stack gap="sm">
      {limitedPeriods(usage).map((period) => (
        <div key={period}>
          <PeriodBar period={period} usage={usage[period]} />
          {usage[period].remaining === 0 && (
            <Text size="sm" c="dimmed" mt={4}>
              {texts.limits.refused[of]}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}
