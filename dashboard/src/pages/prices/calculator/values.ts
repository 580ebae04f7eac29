import type { CostRequest, Price } from '../../../api/prices';
import { parseInteger } from '../../../format/typed';

/** The units whose amounts can always be typed. */
export const MAIN_UNITS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'];

/** Whose price a row of the list asks to calculate with. */
export interface AskedPrice {
  model: string;
  provider: string;
}

export const NOTHING_ASKED: AskedPrice = { model: '', provider: '' };

/** What is typed. */
export interface Values extends AskedPrice {
  /** Empty for one's own. */
  group: string;
  /** Empty for what counts without a context. */
  context: Record<string, string>;
  counts: Record<string, string>;
  /** Units that were added to the main ones. */
  added: string[];
}

export const NO_VALUES: Values = { ...NOTHING_ASKED, group: '', context: {}, counts: {}, added: [] };

/** A name of one's own comes before those of providers, so it needs no provider. */
export function askedOf({ model, provider, own }: Price): AskedPrice {
  return { model: model.replace(/\*$/, ''), provider: own ? '' : (provider ?? '') };
}

/** What else the price of the model depends on, and what else it counts. */
export interface Options {
  units: string[];
  /** The values of each context. */
  contexts: Record<string, string[]>;
}

export function optionsOf(price: Price | undefined): Options {
  const { rates = [], variants = [] } = price ?? {};
  const all = [...rates, ...variants.flatMap((variant) => variant.rates)].map(({ unit }) => unit);
  const contexts: Options['contexts'] = {};
  for (const { when } of variants) {
    for (const [name, value] of Object.entries(when)) {
      if (value) contexts[name] = [...new Set([...(contexts[name] ?? []), value])];
    }
  }
  return { units: [...new Set(all)].filter((unit) => !MAIN_UNITS.includes(unit)), contexts };
}

/**
 * The price by which a model goes, of those that were found: one's own name, then the longest beginning, then the
 * name of a provider's model, in any case.
 */
export function priceOf(prices: Price[], { model, provider }: AskedPrice): Price | undefined {
  const name = model.trim();
  if (name === '') return undefined;
  const isNamed = (price: Price) => price.model.toLowerCase() === name.toLowerCase();
  const own = provider ? [] : prices.filter((price) => price.own);
  const beginnings = own
    .filter((price) => price.model.endsWith('*') && name.startsWith(price.model.slice(0, -1)))
    .sort((a, b) => b.model.length - a.model.length);
  const published = prices.filter((price) => !price.own && (!provider || price.provider === provider));
  const found = own.find((price) => price.model === name) ?? beginnings[0] ?? published.find(isNamed);
  if (!found?.own || !found.provider) return found;
  // It has the price of this provider.
  return prices.find((price) => !price.own && price.provider === found.provider && isNamed(price)) ?? found;
}

/** The number that is typed: a whole one, but for seconds. `undefined` if it is none. */
export function countOf(unit: string, typed: string): number | undefined {
  const text = typed.trim();
  if (unit.endsWith('_seconds') && /^\d+\.\d+$/.test(text)) return Number(text);
  return parseInteger(text);
}

/** The units for which an amount can be typed now. */
export function unitsOf({ added }: Values, { units }: Options): string[] {
  return [...MAIN_UNITS, ...added.filter((unit) => units.includes(unit))];
}

/** What to ask the server. `undefined` while there is nothing to ask, or a number cannot be read. */
export function requestOf(values: Values, options: Options): CostRequest | undefined {
  const typed = unitsOf(values, options)
    .map((unit) => [unit, values.counts[unit] ?? ''] as const)
    .filter(([, text]) => text.trim() !== '');
  const counts = typed.map(([unit, text]) => [unit, countOf(unit, text)] as const);
  const model = values.model.trim();
  if (model === '' || !counts.some(([, count]) => count) || counts.some(([, count]) => count === undefined))
    return;
  const context = Object.entries(values.context).filter(([name, value]) =>
    options.contexts[name]?.includes(value),
  );
  return {
    model,
    units: Object.fromEntries(counts) as Record<string, number>,
    ...(context.length > 0 && { context: Object.fromEntries(context) }),
    ...(values.provider.trim() && { provider: values.provider.trim() }),
    ...(values.group && { group: values.group }),
  };
}
