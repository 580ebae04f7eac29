import { texts } from '../texts';
import { type Tone, ToneBadge } from './ToneBadge';

const words = texts.common.tokenStatus;
const known: Record<number, { tone: Tone; word: string } | undefined> = {
  1: { tone: 'ok', word: words[1] },
  2: { tone: 'off', word: words[2] },
  3: { tone: 'warn', word: words[3] },
  4: { tone: 'bad', word: words[4] },
};

export function StatusBadge({ status }: { status: number }) {
  const { tone, word } = known[status] ?? { tone: 'off', word: words.unknown };
  return <ToneBadge tone={tone}>{word}</ToneBadge>;
}
