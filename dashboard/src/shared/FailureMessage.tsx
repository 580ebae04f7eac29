import { ApiError } from '../api/error';
import { formatInteger } from '../format/money';
import { sentence } from '../format/sentence';
import { texts } from '../texts';

/** The message of the server, and when to try again if the server says so. */
export function FailureMessage({ error }: { error: Error }) {
  const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : undefined;
  return (
    <>
      {sentence(error.message)}
      {wait !== undefined && ` ${texts.common.failure.retryAfter(formatInteger(wait))}`}
    </>
  );
}
