import { expect } from '@playwright/test';

/** Expects something of a value, and reads it again until it is so. The pauses of `expect.poll` grow to a second. */
export function eventually<Value>(read: () => Value | Promise<Value>, message?: string) {
  return expect.poll(read, { message, intervals: [50] });
}
