import type { RequestOptions } from '../../api/requestHistory';
import type { UsageScope } from '../../api/usageReports';

/** The filters of a list of requests as the address has them; empty ones do not filter. */
export interface RequestFilters {
  outcome: '' | 'charged' | 'refused' | 'imported';
  reason: string;
  model: string;
  token_id: string;
  user_id: string;
  gateway_id: string;
  request_id: string;
  /** The request whose details are open; no filter. */
  id: string;
}

/** What the server would refuse is no filter. */
export function readFilters(params: URLSearchParams): RequestFilters {
  const read = (name: keyof RequestFilters, shape: RegExp) => {
    const text = params.get(name) ?? '';
    return shape.test(text) ? text : '';
  };
  return {
    outcome: read('outcome', /^(charged|refused|imported)$/) as RequestFilters['outcome'],
    reason: read('reason', /^[a-z_]+$/),
    model: read('model', /./),
    token_id: read('token_id', /^[1-9]\d{0,14}$/),
    user_id: read('user_id', /^[1-9]\d{0,14}$/),
    gateway_id: read('gateway_id', /^[1-9]\d{0,14}$/),
    request_id: read('request_id', /./),
    id: read('id', /./),
  };
}

export function optionsOf(filters: RequestFilters): RequestOptions {
  const { outcome, reason, model } = filters;
  const number = (text: string) => (text ? Number(text) : undefined);
  return {
    outcome,
    reason,
    model,
    requestId: filters.request_id,
    tokenId: number(filters.token_id),
    userId: number(filters.user_id),
    gatewayId: number(filters.gateway_id),
  };
}

type Target = Partial<Record<keyof RequestFilters | 'range' | 'from' | 'to', string | number | null>>;

/** The page of the requests with these filters. */
export function requestsHref(scope: UsageScope, filters: Target): string {
  const path = scope === 'own' ? '/requests' : '/admin/usage/requests';
  const params = Object.entries(filters).filter(([, value]) => value != null && value !== '');
  return `${path}?${new URLSearchParams(params.map(([name, value]) => [name, String(value)]))}`;
}
