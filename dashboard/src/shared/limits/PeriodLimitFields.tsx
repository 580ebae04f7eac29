import { Button, Group, SimpleGrid, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { type Period, type PeriodUsage, periods } from '../../api/limits';
import { formatWholeUsd } from '../../format/compact';
import { formatUsd, UNITS_PER_USD, usdInput } from '../../format/money';
import { texts } from '../../texts';
import { type PeriodDraft, reachedFirst, readPeriodLimit } from './draft';

const words = texts.limits;

const presets: { period: Period; units: number }[] = [
  { period: 'day', units: 5 * UNITS_PER_USD },
  { period: 'week', units: 20 * UNITS_PER_USD },
  { period: 'month', units: 50 * UNITS_PER_USD },
];

interface Props {
  form: UseFormReturnType<{ period_limits: PeriodDraft }>;
  /** Absent for a new token. */
  usage: PeriodUsage | undefined;
}

/** Limits per day, week and month, in US dollars. */
export function PeriodLimitFields({ form, usage }: Props) {
  const draft = form.values.period_limits;
  return (
    <>
      <Text size="xs" c="dimmed">
        {words.hint}
      </Text>
      <Group gap="xs" role="group" aria-label={words.presets.label}>
        {presets.map(({ period, units }) => (
          <Button
            key={period}
            variant="default"
            size="compact-sm"
            onClick={() => form.setFieldValue(`period_limits.${period}`, usdInput(units))}
          >
            {words.presets[period](formatWholeUsd(units))}
          </Button>
        ))}
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        {periods.map((period) => (
          <TextInput
            key={period}
            name={period}
            label={words.periods[period]}
            inputMode="decimal"
            autoComplete="off"
            leftSection="$"
            {...form.getInputProps(`period_limits.${period}`)}
          />
        ))}
      </SimpleGrid>
      {periods.some((period) => readPeriodLimit(draft[period]) === 0) && (
        <Text size="sm" c="var(--km-warn)" role="status">
          {words.zero}
        </Text>
      )}
      {reachedFirst(draft).map((period) => (
        <Text key={period} size="sm" c="var(--km-warn)" role="status">
          {words.reachedFirst[period]}
        </Text>
      ))}
      {usage &&
        periods
          .filter((period) => isUsedUp(draft[period], usage[period].used))
          .map((period) => (
            <Text key={period} size="sm" c="var(--km-warn)">
              {words.alreadyUsed[period](formatUsd(usage[period].used))}
            </Text>
          ))}
    </>
  );
}

/** Returns true if the typed limit admits nothing in the present period. */
function isUsedUp(typed: string, used: number): boolean {
  const limit = readPeriodLimit(typed);
  return limit !== undefined && limit >= 0 && used > 0 && limit <= used;
}
