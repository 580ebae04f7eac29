import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { PAGE_SIZE, pageParams } from './page';
import type { components } from './schema';

export type Prices = components['schemas']['PricesBody'];
/** What a model costs: dollars as decimal text. */
export type Price = Prices['items'][number];
export type Rate = components['schemas']['RateBody'];
export type Variant = components['schemas']['VariantBody'];
export type Cost = components['schemas']['CostBody'];
export type CostLine = components['schemas']['CostLineBody'];

export const pricesKey = ['prices'] as const;

export interface PriceSearch {
  /** A part of the name of a model. */
  keyword: string;
  /** Only prices of one's own file. */
  own?: boolean;
}

/** The prices in force. `page` starts at 0. */
export function usePrices(
  { keyword, own = false }: PriceSearch,
  page: number,
  size = PAGE_SIZE,
  enabled = true,
) {
  return useQuery({
    queryKey: [...pricesKey, 'list', keyword, own, page, size],
    queryFn: ({ signal }) => {
      const query = { ...(keyword && { keyword }), ...(own && { own }), ...pageParams(page, size) };
      return call(api.GET('/api/prices', { params: { query }, signal }));
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}

/** A request that nobody makes. */
export interface CostRequest {
  model: string;
  units: Record<string, number>;
  context?: Record<string, string>;
  provider?: string;
  group?: string;
}

/** What a request would cost. Sends nothing without one. */
export function useCost(request: CostRequest | undefined) {
  return useQuery({
    queryKey: [...pricesKey, 'cost', request],
    queryFn: ({ signal }) => {
      if (!request) throw new Error('nothing to calculate');
      return call(api.POST('/api/prices/cost', { body: request, signal }));
    },
    enabled: request !== undefined,
    placeholderData: keepPreviousData,
  });
}
