/** A failure of the API. `status` 0 and code `unreachable`: nobody who speaks the API answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds after which it may work. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }

  /** Trying the same again by itself makes sense. */
  get isTransient(): boolean {
    return this.isUnreachable || this.status === 503;
  }
}

/** Whether the API refused for this reason. */
export function hasCode(error: Error | null, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
