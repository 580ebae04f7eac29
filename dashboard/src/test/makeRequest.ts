import type { PastRequest, Refusal } from '../api/requestHistory';

/** A charged request for tests, with defaults. */
export function makeRequest(fields: Partial<PastRequest> = {}): PastRequest {
  return {
    id: 'c7',
    at: 1_800_000_000,
    outcome: 'charged',
    token_id: 7,
    token_name: 'Crawler',
    user_id: 1,
    username: 'ada',
    model: 'gpt-5',
    quota: 750_000,
    usd: 1.5,
    shortfall: 0,
    prompt_tokens: 1200,
    completion_tokens: 34,
    units: {},
    priced_by: 'told',
    hold_reason: null,
    ip: '192.0.2.7',
    request_id: 'chat-7',
    reservation_id: null,
    gateway_id: 3,
    gateway_name: 'east',
    refusal: null,
    ...fields,
  };
}

/** Why a request was refused, for tests, with defaults. */
export function makeRefusal(fields: Partial<Refusal> = {}): Refusal {
  return {
    reason: 'model_not_allowed',
    message: 'this token may not use the model `o3`',
    call: 'charge',
    requested: null,
    period: null,
    limit: null,
    used: null,
    resets_at: null,
    retry_after: null,
    suppressed: 0,
    cured: null,
    remedy: null,
    ...fields,
  };
}
