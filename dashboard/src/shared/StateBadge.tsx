import { Text } from '@mantine/core';
import type { Token } from '../api/tokens';
import { formatRelative } from '../format/time';
import { texts } from '../texts';
import { textOf } from '../texts/textOf';
import { stateTone } from './stateTone';
import { ToneBadge } from './ToneBadge';
import { useNow } from './useNow';

const { keyState, otherKeyState, worksAgain } = texts.common;

/** A state in words. */
export function StateName({ state }: { state: string }) {
  return <ToneBadge tone={stateTone(state)}>{textOf(keyState, state) ?? otherKeyState}</ToneBadge>;
}

/** Whether a key works now, and if not, why and until when. */
export function StateBadge({ token: { state, state_until } }: { token: Token }) {
  const now = useNow();
  return (
    <>
      <StateName state={state} />
      {state_until != null && (
        <Text size="xs" c="dimmed">
          {worksAgain(formatRelative(state_until, now))}
        </Text>
      )}
    </>
  );
}
