import type { components } from './schema';

/** The codes of the API's failures. A newer server may have more. */
export type ErrorCode = components['schemas']['ErrorCode'];

/** What is wrong with one of many users. */
export type Fault = components['schemas']['FaultBody'];

/** A failed API call. Without a response from the API, `status` is 0 and `code` is `unreachable`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds to wait before the next attempt. */
    readonly retryAfter?: number,
    /** Of a change of many, the ID of the one that is the reason. */
    readonly id?: number,
    /** Its name. */
    readonly about?: string,
    /** Of a change of many users, each that is a reason. */
    readonly faults: Fault[] = [],
  ) {
    super(message);
  }

  /** The same failure with the name of the one that is the reason, of these. */
  aboutOneOf(all: { id: number; name: string }[]): ApiError {
    const about = all.find(({ id }) => id === this.id)?.name;
    return new ApiError(this.status, this.code, this.message, this.retryAfter, this.id, about);
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }

  /** The server is busy, or a proxy does not reach it. */
  get isUnavailable(): boolean {
    return this.status >= 502 && this.status <= 504;
  }

  /** The same request may succeed soon. A report may wait behind those of the account's other tabs. */
  get isTransient(): boolean {
    return this.isUnreachable || this.isUnavailable || hasCode(this, 'reports_busy');
  }
}

/** Returns true if the server could not answer. The banner says so until it is back. */
export function isOutage(error: Error | null): boolean {
  return error instanceof ApiError && (error.isUnreachable || error.isUnavailable);
}

/** Returns true if the API refused with this error code. */
export function hasCode(error: Error | null, code: ErrorCode): boolean {
  return error instanceof ApiError && error.code === code;
}
