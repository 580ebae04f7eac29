const CHINESE = '[\\p{Script=Han}，。：；？！、（）“”…]';
const beginsChinese = new RegExp(`^${CHINESE}`, 'u');
const endsChinese = new RegExp(`${CHINESE}$`, 'u');

/** Returns true if a space belongs between two texts, of which one may be Chinese. */
export function needsSpace(before: string, after: string): boolean {
  return !(endsChinese.test(before) && beginsChinese.test(after));
}

/** A space, or nothing between two Chinese characters. */
export function spaceBetween(before: string, after: string): string {
  return needsSpace(before, after) ? ' ' : '';
}

/** Sentences or words one after the other. Empty ones are left out. */
export function joined(...parts: string[]): string {
  const [first = '', ...others] = parts.filter(Boolean);
  return others.reduce((before, after) => before + spaceBetween(before, after) + after, first);
}
