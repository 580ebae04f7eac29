import { type Switched, useSwitchTokens } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { failureText } from '../../../format/failure';
import { formatInteger } from '../../../format/locale';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { notifyUndo } from '../../../shared/notifyUndo';
import { texts } from '../../../texts';

const words = texts.keys.switched;

/** Enables and disables keys, and says what became of it. */
export function useSwitchKeys() {
  const switchTokens = useSwitchTokens();

  // Awaited, because `mutate` runs its callbacks only for the last of several concurrent calls.
  async function switchAll(tokens: Token[], on: boolean, report: (switched: Token[]) => void) {
    try {
      const result = await switchTokens.mutateAsync({ tokens, on });
      report(result.switched);
      reportRefused(result);
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  /** For a switch, which shows by itself that a key is enabled. */
  function setSwitch(tokens: Token[], on: boolean) {
    return switchAll(tokens, on, (switched) => {
      const [first] = switched;
      if (!on && first) notifyUndo(words.disabled(first.name), () => enableAgain(switched));
    });
  }

  function enableAgain(tokens: Token[]) {
    return switchAll(tokens, true, ({ length }) => {
      if (length > 0) notifySuccess(words.undone(length));
    });
  }

  return { setSwitch, enableAgain };
}

/** Says how many keys the server did not change. */
export function reportRefused({ switched, refused }: Switched) {
  const [first] = refused;
  if (!first) return;
  const all = switched.length + refused.length;
  notifyFailure(new Error(words.someRefused(formatInteger(refused.length), all, failureText(first.error))));
}
