import { needsSpace } from '../../format/space';

/** A text without the spaces around values that turned out to be Chinese, such as names. */
function withoutSpaces(text: string, value: string): string {
  const [first = '', ...others] = text.split(value);
  return others.reduce((before, after) => {
    const left = before.endsWith(' ') && !needsSpace(before.trimEnd(), value) ? before.trimEnd() : before;
    const right = after.startsWith(' ') && !needsSpace(value, after.trimStart()) ? after.trimStart() : after;
    return left + value + right;
  }, first);
}

/** The texts, with functions that leave no space between two Chinese characters. */
export function typeset<Texts extends object>(texts: Texts): Texts {
  const entries = Object.entries(texts).map(([name, text]) => [name, typesetOne(text)]);
  return Object.fromEntries(entries) as Texts;
}

function typesetOne(text: unknown): unknown {
  if (typeof text === 'object' && text !== null && !Array.isArray(text)) return typeset(text);
  if (typeof text !== 'function') return text;
  return (...values: unknown[]) =>
    values
      .filter((value) => typeof value === 'string' && value !== '')
      .reduce<string>((all, value) => withoutSpaces(all, value as string), text(...values));
}
