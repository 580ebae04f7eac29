import { formatInteger } from '../../format/locale';

const rules = new Intl.PluralRules('en');

/** For example "1 key" or "1,200 keys". */
export function plural(count: number, one: string, other: string): string {
  return `${formatInteger(count)} ${rules.select(count) === 'one' ? one : other}`;
}
