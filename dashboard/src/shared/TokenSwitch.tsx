import { Switch, type SwitchProps } from '@mantine/core';
import { useUser } from '../api/session';
import { isSwitchedOn, lockedBy } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';

interface Props extends Omit<SwitchProps, 'checked' | 'disabled' | 'onChange'> {
  token: Token;
  onSwitch: (on: boolean) => void;
}

/** The switch of a key. It rests where somebody above switched the key off; its status says who. */
export function TokenSwitch({ token, onSwitch, ...props }: Props) {
  const user = useUser();
  return (
    <Switch
      {...props}
      checked={isSwitchedOn(token)}
      disabled={lockedBy(user, token) !== undefined}
      onChange={(event) => onSwitch(event.currentTarget.checked)}
    />
  );
}
