import { ApiError } from '../api/error';
import { failureText } from '../format/failure';
import { texts } from '../texts';

/** What went wrong, and when to try again if the server says so. */
export function FailureMessage({ error }: { error: Error }) {
  const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : undefined;
  return (
    <>
      {failureText(error)}
      {wait !== undefined && ` ${texts.common.failure.retryAfter(wait)}`}
    </>
  );
}
