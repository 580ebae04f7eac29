import type { Outcome } from '../../../api/sendEach';
import { useSwitchTokens } from '../../../api/tokenSwitch';
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
      report(result.done);
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

/** Says how many keys the server refused. */
export function reportRefused({ done, refused }: Outcome, sentence = words.someRefused) {
  const [first] = refused;
  if (!first) return;
  const all = done.length + refused.length;
  notifyFailure(new Error(sentence(formatInteger(refused.length), all, failureText(first.error))));
}
