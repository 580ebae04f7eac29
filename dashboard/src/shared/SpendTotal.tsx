import { formatCompact } from '../format/compact';
import type { Totals } from '../format/usage';
import { texts } from '../texts';
import { Money } from './Money';
import { StatCard } from './StatCard';

const words = texts.overview;

interface Props {
  title: string;
  /** Absent while loading. */
  totals: Totals | undefined;
  className?: string;
}

export function SpendTotal({ title, totals, className }: Props) {
  return (
    <StatCard title={title} value={totals && <Money units={totals.units} />} className={className}>
      {totals && (
        <>
          <div>{words.requests(totals.requests)}</div>
          <div>{words.tokens(formatCompact(totals.promptTokens + totals.completionTokens))}</div>
        </>
      )}
    </StatCard>
  );
}
