import { List, type MantineSpacing, Text } from '@mantine/core';
import type { Token } from '../../../api/tokens';
import { formatInteger } from '../../../format/locale';
import { texts } from '../../../texts';

const MAX_LISTED = 5;

interface Props {
  tokens: Token[];
  /** The space below. */
  mb?: MantineSpacing;
}

/** The first keys that an action is about, and the number of the others. */
export function KeyNames({ tokens, mb = 'md' }: Props) {
  const unlisted = tokens.length - MAX_LISTED;
  return (
    <List mb={mb} spacing={4} style={{ overflowWrap: 'anywhere' }}>
      {tokens.slice(0, MAX_LISTED).map((token) => (
        <List.Item key={token.id}>
          <Text fw={600}>{token.name}</Text>
          <Text size="sm" c="dimmed" ff="monospace">
            {token.masked_key}
          </Text>
        </List.Item>
      ))}
      {unlisted > 0 && <List.Item>{texts.keys.delete.more(formatInteger(unlisted))}</List.Item>}
    </List>
  );
}
