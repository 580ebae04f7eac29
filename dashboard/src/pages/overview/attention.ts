import type { Attention, Overview } from '../../api/overview';
import type { Token } from '../../api/tokens';
import { formatUsd } from '../../format/money';
import { formatRelative } from '../../format/time';
import { stoppingPeriod } from '../../shared/limits/periodBar';
import type { Tone } from '../../shared/ToneBadge';
import { texts } from '../../texts';

interface Explanation {
  tone: Tone;
  word: string;
  sentence: string;
}

/** Explains why a key needs attention. */
export function explain({ reason, token }: Attention, now: number): Explanation {
  const words = texts.overview.attention.reasons;
  const { expires_soon, nearly_spent, limit_reached, exhausted, expired, exceeds_wallet, other } = words;
  const when = formatRelative(token.expired_time, now);
  const granted = formatUsd(token.used_quota + token.remain_quota);
  const left = formatUsd(token.remain_quota);
  switch (reason) {
    case 'expires_soon':
      return { tone: 'warn', word: expires_soon.word, sentence: expires_soon.sentence(when) };
    case 'nearly_spent':
      return {
        tone: 'warn',
        word: nearly_spent.word,
        sentence: nearly_spent.sentence(left, granted),
      };
    case 'exhausted':
      return {
        tone: 'bad',
        word: exhausted.word,
        sentence: token.used_quota > 0 ? exhausted.sentence(granted) : exhausted.neverHad,
      };
    case 'limit_reached':
      return { tone: 'bad', word: limit_reached.word, sentence: reachedLimit(token, now) };
    case 'group_not_allowed':
      return { tone: 'bad', ...words.group_not_allowed };
    case 'expired':
      return { tone: 'warn', word: expired.word, sentence: expired.sentence(when) };
    case 'exceeds_wallet':
      return { tone: 'warn', word: exceeds_wallet.word, sentence: exceeds_wallet.sentence(left) };
    default:
      return { tone: 'info', ...other };
  }
}

function reachedLimit({ period_usage, state_until }: Token, now: number): string {
  const { sentence, never, other } = texts.overview.attention.reasons.limit_reached;
  const period = stoppingPeriod(period_usage);
  if (!period) return other;
  const limit = formatUsd(period_usage[period].limit);
  return state_until ? sentence[period](limit, formatRelative(state_until, now)) : never[period](limit);
}

/** The lists in which keys that need attention are found: the server filters by status. All keys if no list has any. */
export function listsOf({ tokens }: Pick<Overview, 'tokens'>) {
  const lists = [
    { href: '/keys?state=used_up', show: 4, count: tokens.exhausted },
    { href: '/keys?state=expired', show: 3, count: tokens.expired },
  ] as const;
  const found = lists.filter(({ count }) => count > 0);
  return found.length > 0 ? found : [{ href: '/keys', show: 'all' as const }];
}

/** Explains why no key of an account works. */
export function explainAccount({ account_state, account_state_until }: Overview, now: number) {
  const { emptyWallet, accountLimit, stoppedAccount } = texts.overview.attention;
  switch (account_state) {
    case 'account_empty':
      return emptyWallet;
    case 'account_limit_reached': {
      const { name, word, sentence, never } = accountLimit;
      const renews = account_state_until != null;
      return { name, word, sentence: renews ? sentence(formatRelative(account_state_until, now)) : never };
    }
    default:
      return stoppedAccount;
  }
}
