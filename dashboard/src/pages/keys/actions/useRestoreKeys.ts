import { useRestoreTokens } from '../../../api/deletedTokens';
import type { Token } from '../../../api/tokens';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { reportRefused } from './useSwitchKeys';

const words = texts.deletedKeys;

/** Restores keys that were just deleted, and says what became of them. */
export function useRestoreKeys() {
  const restore = useRestoreTokens();

  // Awaited, because `mutate` runs no callbacks after the page of a deleted key has closed.
  async function restoreAgain(tokens: Token[]) {
    try {
      const result = await restore.mutateAsync(tokens);
      notifySuccess(words.undone(result.done.length));
      reportRefused(result, words.someRefused);
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  return { restoreAgain };
}
