import { ApiError } from '../api/error';
import { failureText } from '../format/failure';
import { joined } from '../format/space';
import { texts } from '../texts';

/** What went wrong, and when to try again if the server says so. */
export function FailureMessage({ error }: { error: Error }) {
  const wait = error instanceof ApiError && error.status === 429 ? error.retryAfter : undefined;
  const text = failureText(error);
  return wait === undefined ? text : joined(text, texts.common.failure.retryAfter(wait));
}
