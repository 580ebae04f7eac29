import type { Grace } from '../../../api/oldKeys';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** How long the old key works, in the order of the dialog. */
export const graces = {
  leaked: { grace_seconds: 0, grace_from: 'now' },
  hour: { grace_seconds: HOUR, grace_from: 'now' },
  day: { grace_seconds: DAY, grace_from: 'first_use' },
  week: { grace_seconds: 7 * DAY, grace_from: 'first_use' },
  /** The server waits at most 30 days for the first use. */
  first_use: { grace_seconds: 0, grace_from: 'first_use' },
} as const satisfies Record<string, Grace>;

/** What is chosen at first: the default of the API. */
export const DEFAULT_GRACE = 'day';

export type GraceChoice = keyof typeof graces;

export const graceChoices = Object.keys(graces) as GraceChoice[];

/** The old key ends at once, and programs that use it fail. */
export function endsAtOnce(choice: GraceChoice): boolean {
  return graces[choice].grace_seconds === 0 && graces[choice].grace_from === 'now';
}
