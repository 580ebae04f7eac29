import { language, languageTags } from './locale';

const rules = new Intl.PluralRules(languageTags[language]);

/** A text for a count that stands before it: "Key[|s] [was|were] cut." is "Key was cut." for 1, else "Keys were cut." */
export function agree(count: number, text: string): string {
  const isOne = rules.select(count) === 'one';
  return text.replace(/\[([^|[\]]*)\|([^|[\]]*)\]/g, (_, one, other) => (isOne ? one : other));
}
