import type { Attention } from '../../api/overview';
import { formatRows } from '../../format/money';
import { formatRelative } from '../../format/time';
import type { Tone } from '../../shared/ToneBadge';
import { texts } from '../../texts';

interface Explanation {
  tone: Tone;
  word: string;
  sentence: string;
}

/** Explains why a key needs attention. */
export function explain({ reason, token }: Attention, now: number): Explanation {
  const { expires_soon, nearly_spent, exhausted, expired, exceeds_wallet, other } =
    texts.overview.attention.reasons;
  const when = formatRelative(token.expired_time, now);
  // Rounded like in lists.
  const { rows, total: granted } = formatRows([token.used_quota, token.remain_quota]);
  switch (reason) {
    case 'expires_soon':
      return { tone: 'warn', word: expires_soon.word, sentence: expires_soon.sentence(when) };
    case 'nearly_spent':
      return {
        tone: 'warn',
        word: nearly_spent.word,
        sentence: nearly_spent.sentence(rows[1] ?? '', granted),
      };
    case 'exhausted':
      return { tone: 'bad', word: exhausted.word, sentence: exhausted.sentence(granted) };
    case 'expired':
      return { tone: 'warn', word: expired.word, sentence: expired.sentence(when) };
    case 'exceeds_wallet':
      return { tone: 'warn', word: exceeds_wallet.word, sentence: exceeds_wallet.sentence(rows[1] ?? '') };
    default:
      return { tone: 'info', ...other };
  }
}
