import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { UsageScope } from './usageReports';

/** When a key or an account ends. What does not end is null. */
export type Forecasts = components['schemas']['AccountForecastBody'];

export interface ForecastOptions {
  scope?: UsageScope;
  /** Absent for the account. */
  tokenId?: number;
  /** Only for the scope `allUsers`. */
  userId?: number;
}

/** When a key or an account ends at the pace of the last days; null if nothing does, or with too little spend. */
export function useForecast({ scope = 'own', tokenId, userId }: ForecastOptions) {
  const own = { token_id: tokenId?.toString() };
  const query = { ...own, user_id: userId?.toString() };
  return useQuery({
    queryKey: scope === 'own' ? [...tokensKey, 'forecast', own] : ['admin', 'usage', 'forecast', query],
    queryFn: async ({ signal }): Promise<Forecasts | null> => {
      const { token, account } = await (scope === 'own'
        ? call(api.GET('/api/usage/forecast', { params: { query: own }, signal }))
        : call(api.GET('/api/admin/usage/forecast', { params: { query }, signal })));
      return (tokenId === undefined ? account : token) ?? null;
    },
  });
}
