import { formatCompact } from '../../format/compact';
import type { Totals } from '../../format/usage';
import { Money } from '../../shared/Money';
import { texts } from '../../texts';
import { StatCard } from './StatCard';

const words = texts.overview;

export function SpendTotal({ title, totals }: { title: string; totals: Totals | undefined }) {
  return (
    <StatCard title={title} value={totals && <Money units={totals.units} />}>
      {totals && (
        <>
          <div>{words.requests(totals.requests)}</div>
          <div>{words.tokens(formatCompact(totals.promptTokens + totals.completionTokens))}</div>
        </>
      )}
    </StatCard>
  );
}
