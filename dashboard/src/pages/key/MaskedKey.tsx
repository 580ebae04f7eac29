import { Button, Group, Text } from '@mantine/core';
import { IconCopy, IconEye, IconRefresh } from '@tabler/icons-react';
import type { Token } from '../../api/tokens';
import { texts } from '../../texts';
import type { KeyActions } from '../keys/actions/useKeyActions';

const { menu } = texts.keys;

/** The masked key, with actions that load or replace the key itself. */
export function MaskedKey({ token, actions }: { token: Token; actions: KeyActions }) {
  return (
    <Group gap="xs">
      <Text ff="monospace" mr="xs">
        {token.masked_key}
      </Text>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconCopy size={16} />}
        onClick={() => actions.copyKey(token)}
      >
        {menu.copyKey}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconEye size={16} />}
        onClick={() => actions.revealKey(token)}
      >
        {menu.revealKey}
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconRefresh size={16} />}
        onClick={() => actions.replaceKey(token)}
      >
        {menu.replaceKey}
      </Button>
      <Text size="sm" c="dimmed">
        {texts.key.audited}
      </Text>
    </Group>
  );
}
