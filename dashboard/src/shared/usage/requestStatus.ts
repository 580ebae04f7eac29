import type { PastRequest } from '../../api/requestHistory';
import { texts } from '../../texts';
import type { Tone } from '../ToneBadge';

const words = texts.usage.requestHistory;

type Outcome = Pick<PastRequest, 'outcome' | 'refusal' | 'shortfall'>;

/** What became of a request. A refusal that is fixed is no alarm. */
export function requestStatus({ outcome, refusal, shortfall }: Outcome): { text: string; tone: Tone } {
  if (refusal) return { text: words.refused, tone: refusal.cured ? 'ok' : 'bad' };
  if (outcome === 'imported') return { text: words.imported, tone: 'off' };
  return shortfall > 0 ? { text: words.partly, tone: 'warn' } : { text: words.charged, tone: 'off' };
}
