import type { Price, TokenRates } from '../../api/prices';

/** What requests cost that use a model. A model with other rates for long prompts has two rows. */
export interface PriceRow extends TokenRates {
  model: string;
  request: string;
  /** The row counts only for requests with at most, or with more than, this many input tokens. */
  prompts?: { of: 'at_most' | 'more_than'; tokens: number };
}

export function rowsOf(prices: Price[]): PriceRow[] {
  return prices.flatMap(({ above, ...price }): PriceRow[] => {
    if (!above) return [price];
    const { prompt_tokens: tokens, ...rates } = above;
    const { model, request } = price;
    return [
      { ...price, prompts: { of: 'at_most', tokens } },
      { model, request, ...rates, prompts: { of: 'more_than', tokens } },
    ];
  });
}

/** The prices with a text in their name, ignoring case, and those that stand for all models that begin like the text. */
export function withName(prices: Price[], text: string): Price[] {
  const part = text.trim().toLowerCase();
  return prices.filter(({ model }) => {
    const name = model.toLowerCase();
    return name.includes(part) || (name.endsWith('*') && part.startsWith(name.slice(0, -1)));
  });
}

export type RateName = keyof TokenRates | 'request';

/** The rates that say something: cached tokens that cost as others, and requests that cost nothing, say nothing. */
export function usefulRates(prices: Price[]): RateName[] {
  const rows = rowsOf(prices);
  const isUseful: Record<RateName, boolean> = {
    prompt: true,
    completion: true,
    cached: rows.some(({ cached, prompt }) => cached !== prompt),
    cache_write: rows.some(({ cache_write, prompt }) => cache_write !== prompt),
    request: rows.some(({ request }) => /[1-9]/.test(request)),
  };
  return (Object.keys(isUseful) as RateName[]).filter((name) => isUseful[name]);
}
