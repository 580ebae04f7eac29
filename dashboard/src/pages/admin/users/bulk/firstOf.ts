import { texts } from '../../../../texts';

/** The first of these texts, and how many more there are. */
export function firstOf(all: string[], count: number): string[] {
  const more = all.length - count;
  return more > 0 ? [...all.slice(0, count), texts.adminBulk.more(more)] : all;
}
