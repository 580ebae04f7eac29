import { Text } from '@mantine/core';
import type { Token } from '../../../api/tokens';
import { formatList } from '../../../format/list';
import { formatInteger } from '../../../format/locale';
import { texts } from '../../../texts';

const MAX_NAMED = 10;

/** The names of the first keys that an action is about, and the number of the others. */
export function ChosenNames({ tokens }: { tokens: Token[] }) {
  const names = tokens.slice(0, MAX_NAMED).map(({ name }) => name);
  const unnamed = tokens.length - names.length;
  const more = unnamed > 0 ? [texts.keys.delete.more(formatInteger(unnamed))] : [];
  return (
    <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {formatList([...names, ...more])}
    </Text>
  );
}
