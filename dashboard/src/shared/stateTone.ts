import type { KeyState } from '../api/tokens';
import type { Tone } from './ToneBadge';

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

/** A key in a state of a newer server does not work. */
export function stateTone(state: string): Tone {
  return Object.hasOwn(tones, state) ? tones[state as KeyState] : 'bad';
}
