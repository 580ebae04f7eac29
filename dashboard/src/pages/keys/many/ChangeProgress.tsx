import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { formatInteger } from '../../../format/locale';
import { FailureMessage } from '../../../shared/FailureMessage';
import { useSecondsLeft } from '../../../shared/useSecondsLeft';
import { texts } from '../../../texts';

const words = texts.keys.many;

interface Props {
  changed: number;
  all: number;
  /** It waits for the limit on written rows. */
  limit: Error | undefined;
  /** Why it does not go on by itself. */
  error: Error | null;
  onStop: () => void;
  onGoOn: () => void;
}

/** How far a change of many keys is. */
export function ChangeProgress({ changed, all, limit, error, onStop, onGoOn }: Props) {
  const seconds = useSecondsLeft(limit ?? null);
  const status = useRef<HTMLParagraphElement>(null);
  // What had the focus no longer exists.
  useEffect(() => status.current?.focus(), []);
  const text = words.progress(formatInteger(changed), all);
  return (
    <Stack>
      <Text ref={status} tabIndex={-1} role="status">
        {text}
      </Text>
      <Progress value={(100 * changed) / Math.max(1, all)} aria-label={text} />
      {seconds !== undefined && (
        <Text size="sm" role="timer">
          {words.waiting(formatInteger(seconds))}
        </Text>
      )}
      {error && (
        <Text c="var(--mantine-color-error)" role="alert">
          <FailureMessage error={error} />
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onStop}>
          {error ? texts.common.close : words.stop}
        </Button>
        {error && <Button onClick={onGoOn}>{words.goOn}</Button>}
      </Group>
    </Stack>
  );
}
