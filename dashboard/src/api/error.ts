/** A failed API call. Without a response from the API, `status` is 0 and `code` is `unreachable`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds to wait before the next attempt. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }

  /** The same request may succeed later. */
  get isTransient(): boolean {
    return this.isUnreachable || this.status === 503;
  }
}

/** Returns true if the API refused with this error code. */
export function hasCode(error: Error | null, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
