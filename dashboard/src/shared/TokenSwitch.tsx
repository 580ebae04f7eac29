import { Switch, type SwitchProps } from '@mantine/core';
import { useUser } from '../api/session';
import { isSwitchedOn, lockedBy } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';

/** The status of a token that is not disabled, expired or used up. */
const WORKS = 1;

interface Props extends Omit<SwitchProps, 'checked' | 'disabled' | 'onChange'> {
  token: Token;
  onSwitch: (on: boolean) => void;
}

/** Enables or disables a key. It is inactive if the user must not enable the key, and off if the key has expired. */
export function TokenSwitch({ token, onSwitch, ...props }: Props) {
  const user = useUser();
  // Switching cannot end that: the edit form extends it.
  const isExpired = token.state === 'expired' && isSwitchedOn(token);
  return (
    <Switch
      // Only a key that works has a coloured switch, and whether one works is not known before the server answers.
      color={token.status === WORKS && !token.switching ? undefined : 'gray'}
      {...props}
      checked={isSwitchedOn(token) && !isExpired}
      disabled={isExpired || lockedBy(user, token) !== undefined}
      onChange={(event) => onSwitch(event.currentTarget.checked)}
    />
  );
}
