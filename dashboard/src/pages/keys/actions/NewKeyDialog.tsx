import { Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../../shared/CopyButton';
import { SecretShownOnce } from '../../../shared/SecretShownOnce';
import { texts } from '../../../texts';

const words = texts.keys.created;

export function NewKeyDialog({ newKey, onClose }: { newKey: string | undefined; onClose: () => void }) {
  const example = `curl ${window.location.origin}/api/usage/token/ \\\n  -H "Authorization: Bearer ${newKey}"`;
  return (
    <SecretShownOnce title={words.title} secret={newKey} hint={words.hint} onClose={onClose}>
      <Stack gap={4}>
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" fw={500}>
            {words.example}
          </Text>
          <CopyButton value={example} label={words.copyExample} />
        </Group>
        <Code block tabIndex={0} fz="xs">
          {newKey && example}
        </Code>
      </Stack>
    </SecretShownOnce>
  );
}
