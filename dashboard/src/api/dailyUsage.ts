import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

export type DayUsage = components['schemas']['DayBody'];

/** First and last day, both included, as YYYY-MM-DD. */
export interface DayRange {
  start: string;
  end: string;
}

export type DailyUsage = components['schemas']['DailyUsageBody'] & {
  /** When the server computed the figures, in Unix seconds. It caches them for some minutes. */
  asOf: number;
};

export function useDailyUsage(tokenId: number, range: DayRange) {
  return useQuery({
    queryKey: [...tokensKey, 'usage', tokenId, range.start, range.end],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<DailyUsage> => {
      const answer = api.GET('/api/token/{id}/usage', {
        params: { path: { id: tokenId }, query: { start_date: range.start, end_date: range.end } },
        signal,
      });
      const usage = await call(answer);
      const age = Number((await answer).response.headers.get('Age') ?? 0);
      return { ...usage, asOf: Math.floor(Date.now() / 1000) - age };
    },
  });
}
