import { Text } from '@mantine/core';
import type { KeyState, Token } from '../api/tokens';
import { formatRelative } from '../format/time';
import { texts } from '../texts';
import { textOf } from '../texts/textOf';
import { type Tone, ToneBadge } from './ToneBadge';
import { useNow } from './useNow';

const { keyState, otherKeyState, worksAgain } = texts.common;

const tones: Record<KeyState, Tone> = {
  working: 'ok',
  disabled: 'off',
  expired: 'warn',
  account_disabled: 'off',
  group_not_allowed: 'bad',
  used_up: 'bad',
  account_empty: 'bad',
  key_limit_reached: 'bad',
  account_limit_reached: 'bad',
};

/** A state in words. */
export function StateName({ state }: { state: string }) {
  const tone = Object.hasOwn(tones, state) ? tones[state as KeyState] : 'bad';
  return <ToneBadge tone={tone}>{textOf(keyState, state) ?? otherKeyState}</ToneBadge>;
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
