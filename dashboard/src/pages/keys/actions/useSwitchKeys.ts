import { useUser } from '../../../api/session';
import { isSwitchedOn, lockedBy, useSwitchTokens } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { formatInteger } from '../../../format/locale';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { notifyUndo } from '../../../shared/notifyUndo';
import { texts } from '../../../texts';

const words = texts.keys.switched;

/** Enables and disables keys, and says what became of it. */
export function useSwitchKeys() {
  const user = useUser();
  const switchTokens = useSwitchTokens();

  // Awaited, because `mutate` runs its callbacks only for the last of several concurrent calls.
  async function switchAll(tokens: Token[], on: boolean): Promise<Token[] | undefined> {
    try {
      return await switchTokens.mutateAsync({ tokens, on });
    } catch (error) {
      notifyFailure(error as Error);
      return undefined;
    }
  }

  /** For a switch, which shows by itself that a key is enabled. */
  async function setSwitch([token]: [Token], on: boolean) {
    const switched = await switchAll([token], on);
    if (switched && !on) notifyUndo(words.disabled(token.name), () => enableAgain(switched));
  }

  /** Enables those that are disabled. Returns false if the server refused one, and so all. */
  async function enableAll(tokens: Token[]): Promise<boolean> {
    const disabled = tokens.filter((token) => !isSwitchedOn(token));
    const locked = disabled.flatMap((token) => lockedBy(user, token) ?? []);
    const enabled = await switchAll(
      disabled.filter((token) => !lockedBy(user, token)),
      true,
    );
    if (!enabled) return false;
    if (enabled.length > 0) notifySuccess(words.enabled(enabled.length));
    const [who] = locked;
    if (who) {
      const text = words.someRefused(formatInteger(locked.length), tokens.length, texts.key.locked[who]);
      notifyFailure(new Error(text));
    }
    return true;
  }

  async function enableAgain(tokens: Token[]) {
    const enabled = await switchAll(tokens, true);
    if (enabled) notifySuccess(words.undone(enabled.length));
  }

  return { setSwitch, enableAll, enableAgain };
}
