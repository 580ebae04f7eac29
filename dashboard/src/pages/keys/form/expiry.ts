import { isTime } from '../../../format/time';

const DAY = 86_400;
const spans = { day: DAY, week: 7 * DAY, month: 30 * DAY, quarter: 90 * DAY };

/** When a token expires: never, some time after submission, or at a given time. */
export type ExpiryChoice = 'never' | keyof typeof spans | 'at';

export const expiryChoices: ExpiryChoice[] = ['never', 'day', 'week', 'month', 'quarter', 'at'];

export const NEVER = -1;

export interface Expiry {
  choice: ExpiryChoice;
  /** Unix seconds, used only with the choice `at`. */
  at: number | undefined;
}

export const noExpiry: Expiry = { choice: 'never', at: undefined };

export function expiryOf(expiredTime: number): Expiry {
  return isTime(expiredTime) ? { choice: 'at', at: expiredTime } : noExpiry;
}

/** The value of `expired_time` in the API. `undefined` until a time is selected. */
export function expiredTime({ choice, at }: Expiry, now: number): number | undefined {
  if (choice === 'never') return NEVER;
  return choice === 'at' ? at : now + spans[choice];
}
