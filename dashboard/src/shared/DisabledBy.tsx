import { Text } from '@mantine/core';
import { texts } from '../texts';

const words: Record<string, string | undefined> = texts.common.disabledBy;

/** Says that an administrator or root disabled something. Empty if its owner did. */
export function DisabledBy({ who }: { who: string | null | undefined }) {
  const word = who ? words[who] : undefined;
  if (word === undefined) return null;
  return (
    <Text size="xs" c="dimmed" mt={2}>
      {word}
    </Text>
  );
}
