import type { RefusedRequests } from '../../api/refusedRequests';
import { limits } from '../../api/serverLimits';
import type { RequestFilters } from './requestFilters';

/** How many requests of a filter were refused, or `undefined` if the API does not count them so. */
export function refusedCount(
  { total, rows }: RefusedRequests,
  { outcome, reason, model, gateway_id, request_id, id }: RequestFilters,
): number | undefined {
  // Unknown keys have no owner, so they are not counted. Models, gateways and ids are not counted apart.
  if (outcome !== 'refused' || reason === 'invalid_key' || model || gateway_id || request_id || id)
    return undefined;
  if (!reason) return total;
  // There may be more than the rows of one answer.
  if (rows.length >= limits.page_size) return undefined;
  return rows.filter((row) => row.reason === reason).reduce((sum, { requests }) => sum + requests, 0);
}
