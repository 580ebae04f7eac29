import type { SwitchProps } from '@mantine/core';
import { type OwnedToken, useSwitchAnyToken } from '../../../api/adminTokens';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { notifyUndo } from '../../../shared/notifyUndo';
import { TokenSwitch } from '../../../shared/TokenSwitch';
import { texts } from '../../../texts';

const words = texts.keys.switched;

interface Props extends Pick<SwitchProps, 'label' | 'labelPosition' | 'aria-label'> {
  token: OwnedToken;
}

export function AdminTokenSwitch({ token, ...props }: Props) {
  const switchToken = useSwitchAnyToken();

  // Awaited, because `mutate` runs its callbacks only for the last call, and not after the row has gone.
  async function change(before: OwnedToken, on: boolean, report: (after: OwnedToken) => void) {
    try {
      report(await switchToken.mutateAsync({ token: before, on }));
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  const enableAgain = (disabled: OwnedToken) => change(disabled, true, () => notifySuccess(words.undone(1)));
  const offerUndo = (disabled: OwnedToken) =>
    notifyUndo(words.disabled(disabled.name), () => enableAgain(disabled));

  return (
    <TokenSwitch
      {...props}
      token={token}
      onSwitch={(on) => change(token, on, (after) => !on && offerUndo(after))}
    />
  );
}
