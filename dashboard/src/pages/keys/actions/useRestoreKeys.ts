import { useRestoreTokens } from '../../../api/deletedTokens';
import type { Token } from '../../../api/tokens';
import { failureText } from '../../../format/failure';
import { formatInteger } from '../../../format/locale';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';

const words = texts.deletedKeys;

/** Restores keys that were just deleted, and says what became of them. */
export function useRestoreKeys() {
  const restore = useRestoreTokens();

  // Awaited, because `mutate` runs no callbacks after the page of a deleted key has closed.
  async function restoreAgain(tokens: Token[]) {
    try {
      const { done, refused } = await restore.mutateAsync(tokens);
      notifySuccess(words.undone(done.length));
      const [first] = refused;
      if (!first) return;
      const count = formatInteger(refused.length);
      notifyFailure(new Error(words.someRefused(count, tokens.length, failureText(first.error))));
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  return { restoreAgain };
}
