import { locale } from './locale';

const list = new Intl.ListFormat(locale, { type: 'conjunction', style: 'narrow' });

/** For example "name, status, note". */
export function formatList(items: string[]): string {
  return list.format(items);
}
