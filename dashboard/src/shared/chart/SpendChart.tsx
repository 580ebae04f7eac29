import type { DayUsage } from '../../api/dailyUsage';
import { unitsOf } from '../../format/usage';
import { DailyChart } from './DailyChart';

const BEFORE = 'color-mix(in srgb, var(--km-accent) 60%, var(--mantine-color-body))';
const TODAY = 'var(--km-accent)';

interface Props {
  daily: DayUsage[];
  /** The bar of this day is highlighted. */
  today?: string;
  /** The bars are the hours of this zone. Absent for days. */
  zone?: string;
  /** Called with the day or hour whose bar is clicked. */
  onOpen?: (date: string) => void;
}

/** The spend by day or hour. */
export function SpendChart({ daily, today, ...bars }: Props) {
  return (
    <DailyChart
      {...bars}
      daily={daily}
      partsOf={({ date, usd }) => [{ units: unitsOf(usd), color: date === today ? TODAY : BEFORE }]}
      today={today}
      fills
    />
  );
}
