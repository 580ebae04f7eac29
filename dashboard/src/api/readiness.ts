import { useQuery } from '@tanstack/react-query';
import { texts } from '../texts';
import { api } from './client';
import { ApiError } from './error';

const REFRESH_MS = 30_000;

export interface Readiness {
  /** Why the server is not ready. Absent if it is. */
  problem?: ApiError;
}

/**
 * What `/readyz` answers. A server that is not ready is a result, not a failure: it may still answer other requests, so
 * the connection banner does not learn of it.
 */
export async function readReadiness(signal?: AbortSignal): Promise<Readiness> {
  const { error, response } = await api.GET('/readyz', { signal }).catch((reason: unknown) => {
    if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
    throw new ApiError(0, 'unreachable', texts.common.failure.unreachable);
  });
  if (response.ok) return {};
  const body = (error ?? {}) as { error?: string; message?: string };
  return { problem: new ApiError(response.status, body.error ?? 'unknown', body.message ?? '') };
}

export function useReadiness() {
  return useQuery({
    queryKey: ['admin', 'readiness'],
    queryFn: ({ signal }) => readReadiness(signal),
    refetchInterval: REFRESH_MS,
    staleTime: 0,
  });
}
