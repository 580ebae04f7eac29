import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type Prices = components['schemas']['PricesBody'];
/** What a model costs: dollars as decimal text. */
export type Price = components['schemas']['PriceBody'];
export type TokenRates = components['schemas']['TokenRatesBody'];

/** The prices in force. */
export function usePrices() {
  return useQuery({
    queryKey: ['prices'],
    queryFn: ({ signal }) => call(api.GET('/api/prices', { signal })),
  });
}
