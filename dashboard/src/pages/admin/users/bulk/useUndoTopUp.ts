import { type Undo, useChangeUsers } from '../../../../api/bulkUsers';
import { ApiError } from '../../../../api/error';
import { newIdempotencyKey } from '../../../../api/idempotencyKey';
import { joined } from '../../../../format/space';
import { notifyFailure, notifySuccess } from '../../../../shared/notify';
import { texts } from '../../../../texts';
import { faultText } from './faultText';
import { firstOf } from './firstOf';

const words = texts.adminBulk;
const MAX_NAMED = 3;

/** Takes back what was added to many wallets, and says what became of it. */
export function useUndoTopUp() {
  const change = useChangeUsers();

  // Awaited, because `mutate` runs its callbacks only for the last call.
  return async (undo: Undo) => {
    try {
      const { users } = await change.mutateAsync({ change: undo, key: newIdempotencyKey() });
      notifySuccess(words.undone(users.length));
    } catch (error) {
      notifyFailure(withReasons(error as Error));
    }
  };
}

/** Whose wallets are the reason. */
function withReasons(error: Error): Error {
  if (!(error instanceof ApiError) || error.faults.length === 0) return error;
  return new Error(words.notUndone(joined(...firstOf(error.faults.map(faultText), MAX_NAMED))));
}
