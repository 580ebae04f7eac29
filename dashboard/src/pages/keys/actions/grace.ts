import type { Grace } from '../../../api/oldKeys';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** How long the old key works, in the order of the dialog. The first one is chosen at first. */
export const graces = {
  day: { grace_seconds: DAY, grace_from: 'first_use' },
  week: { grace_seconds: 7 * DAY, grace_from: 'first_use' },
  hour: { grace_seconds: HOUR, grace_from: 'now' },
  leaked: { grace_seconds: 0, grace_from: 'now' },
} as const satisfies Record<string, Grace>;

export type GraceChoice = keyof typeof graces;

export const graceChoices = Object.keys(graces) as GraceChoice[];

/** The old key ends at once, and programs that use it fail. */
export function endsAtOnce(choice: GraceChoice): boolean {
  return graces[choice].grace_seconds === 0;
}
