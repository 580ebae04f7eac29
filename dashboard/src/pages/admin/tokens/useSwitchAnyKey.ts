import { type OwnedToken, useSwitchAnyToken } from '../../../api/adminTokens';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { notifyUndo } from '../../../shared/notifyUndo';
import { texts } from '../../../texts';

const words = texts.keys.switched;

/** Enables and disables a key of any user, and says what became of it. */
export function useSwitchAnyKey() {
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
  /** For a switch, which shows by itself that a key is enabled. */
  const setSwitch = (token: OwnedToken, on: boolean) => change(token, on, (after) => !on && offerUndo(after));

  return { setSwitch, enableAgain };
}
