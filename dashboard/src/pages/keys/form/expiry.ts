const DAY = 86_400;
const spans = { day: DAY, week: 7 * DAY, month: 30 * DAY, quarter: 90 * DAY };

/** When a token ends: never, so long after the form is sent, or at a moment. */
export type ExpiryChoice = 'never' | keyof typeof spans | 'at';

export const expiryChoices: ExpiryChoice[] = ['never', 'day', 'week', 'month', 'quarter', 'at'];

export const NEVER = -1;

export interface Expiry {
  choice: ExpiryChoice;
  /** Unix seconds; counts with the choice `at`. */
  at: number | undefined;
}

export function expiryOf(expiredTime: number): Expiry {
  return expiredTime > 0 ? { choice: 'at', at: expiredTime } : { choice: 'never', at: undefined };
}

/** `expired_time` on the wire; `undefined` while a moment is still to be chosen. */
export function expiredTime({ choice, at }: Expiry, now: number): number | undefined {
  if (choice === 'never') return NEVER;
  return choice === 'at' ? at : now + spans[choice];
}

/** For an input of the type `datetime-local`, in the reader's time zone. */
export function momentInput(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  const moment = new Date(seconds * 1000);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${String(moment.getFullYear()).padStart(4, '0')}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

export function parseMoment(typed: string): number | undefined {
  const milliseconds = new Date(typed).getTime();
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
