import { Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { texts } from '../texts';

/** Nothing needs attention. */
export function NothingToDo({ hint }: { hint: string }) {
  return (
    <Group gap="md" wrap="nowrap" py="xs">
      <ThemeIcon size={40} radius="xl" bg="var(--km-ok-tint)" c="var(--km-ok)">
        <IconCheck size={22} />
      </ThemeIcon>
      <Stack gap={0}>
        <Text fw={600}>{texts.overview.attention.none}</Text>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      </Stack>
    </Group>
  );
}
