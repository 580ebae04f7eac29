import { setTimeout } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const MARGIN_MS = 30_000;

/** Waits until after midnight UTC if midnight is near, so that a story about today stays within one day. */
export async function waitPastMidnight() {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < MARGIN_MS) await setTimeout(left);
}
