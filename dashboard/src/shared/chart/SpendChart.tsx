import type { DayUsage } from '../../api/dailyUsage';
import { unitsOf } from '../../format/usage';
import { DailyChart } from './DailyChart';

const BEFORE = 'color-mix(in srgb, var(--km-accent) 60%, var(--mantine-color-body))';
const TODAY = 'var(--km-accent)';

interface Props {
  daily: DayUsage[];
  /** The bar of this day is highlighted. */
  today?: string;
}

/** The spend by day. */
export function SpendChart({ daily, today }: Props) {
  return (
    <DailyChart
      daily={daily}
      partsOf={({ date, usd }) => [{ units: unitsOf(usd), color: date === today ? TODAY : BEFORE }]}
      today={today}
      fills
    />
  );
}
