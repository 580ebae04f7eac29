/** Splits what people see as one character: "👩🏽‍🔬" is one. */
const graphemes = 'Segmenter' in Intl ? new Intl.Segmenter() : undefined;

function first(word: string): string {
  const [whole] = graphemes?.segment(word) ?? [];
  return whole?.segment ?? [...word][0] ?? '';
}

/** The first characters of the first and the last word of a name: "Ada Lovelace" is "AL". */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map((word = '') => first(word).toLocaleUpperCase()).join('');
}
