const KEY_BYTES = 16;

/** For a request that is carried out once, however often it is sent with this key. */
export function newIdempotencyKey(): string {
  // `randomUUID` is missing over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
