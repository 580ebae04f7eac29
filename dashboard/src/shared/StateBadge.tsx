import { Text } from '@mantine/core';
import { isSwitchedOn } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';
import { formatRelative } from '../format/time';
import { texts } from '../texts';
import { textOf } from '../texts/textOf';
import { stateTone } from './stateTone';
import { ToneBadge } from './ToneBadge';
import { useNow } from './useNow';

const { keyState, otherKeyState, switching, worksAgain } = texts.common;

/** A state in words. */
export function StateName({ state }: { state: string }) {
  return <ToneBadge tone={stateTone(state)}>{textOf(keyState, state) ?? otherKeyState}</ToneBadge>;
}

/** Whether a key works now, and if not, why and until when. While it is switched, what was asked for. */
export function StateBadge({ token }: { token: Token }) {
  const { state, state_until } = token;
  const now = useNow();
  if (token.switching) {
    return <ToneBadge tone="off">{isSwitchedOn(token) ? switching.on : switching.off}</ToneBadge>;
  }
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
