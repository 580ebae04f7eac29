/** What the client of a gateway is told, in the shape of OpenAI's API, which SDKs read. */

import {
  InvalidKey,
  type KeymeterError,
  LimitExceeded,
  NotAllowed,
  QuotaExhausted,
  RateLimited,
  Refused,
  Unavailable,
} from './errors.ts';
import { consoleLog, type Log } from './log.ts';

/** An answer of the gateway. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In JSON. */
  readonly body: {
    readonly error: {
      readonly message: string;
      readonly type: string;
      readonly param: null;
      readonly code: string;
    };
  };
}

/** Refusals that a repetition does not change. The SDKs of OpenAI and Anthropic obey it. */
const NO_RETRY = { 'x-should-retry': 'false' };

/** What to answer for this error. A mistake of the gateway is logged, and its reason is not shown to the client. */
export function refusalOf(error: KeymeterError, log: Log = consoleLog): Refusal {
  if (error instanceof Unavailable) {
    log('warn', `a request was refused, because Keymeter is unavailable: ${error}`);
    const message = 'the spending limits of this key cannot be checked now; retry shortly';
    return refusal(503, 'api_error', 'keymeter_unavailable', message, { 'retry-after': '2' });
  }
  if (error instanceof Refused) {
    const { code, message, retryAfter } = error;
    const waits = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
    if (error instanceof InvalidKey) {
      return refusal(401, 'invalid_request_error', 'invalid_api_key', message, NO_RETRY);
    }
    if (error instanceof QuotaExhausted) return refusal(402, 'insufficient_quota', code, message, NO_RETRY);
    if (error instanceof NotAllowed) return refusal(403, 'permission_error', code, message, NO_RETRY);
    if (error instanceof LimitExceeded) {
      return refusal(429, 'rate_limit_error', code, message, { ...waits, ...NO_RETRY });
    }
    // Without a time, the request is larger than the rate allows at any time.
    if (error instanceof RateLimited) {
      return refusal(429, 'rate_limit_error', code, message, waits ?? NO_RETRY);
    }
  }
  const requestId = error instanceof Refused ? error.requestId : undefined;
  log(
    'error',
    `a request was refused, because this gateway uses Keymeter wrongly: ${error} (X-Request-Id ${requestId})`,
  );
  return refusal(
    500,
    'api_error',
    'keymeter_misconfigured',
    'this gateway is misconfigured; tell its operator',
    {},
  );
}

function refusal(
  status: number,
  type: string,
  code: string,
  message: string,
  headers: Record<string, string>,
): Refusal {
  return { status, headers, body: { error: { message, type, param: null, code } } };
}
