import { setTimeout } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const STORY_MS = 30_000;

/** Waits for the next day where this one, of UTC, is about to end: a story about today must not be split by midnight. */
export async function waitPastMidnight() {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < STORY_MS) await setTimeout(left);
}
