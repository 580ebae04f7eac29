import { describe, expect, it } from 'vitest';
import type { RefusedRequests, RefusedRow } from '../../api/refusedRequests';
import { refusedCount } from './refusedCount';
import { readFilters } from './requestFilters';

const row = (reason: string, requests: number) => ({ reason, requests }) as RefusedRow;
const refused = {
  total: 9,
  rows: [row('ip_not_allowed', 5), row('model_not_allowed', 3), row('ip_not_allowed', 1)],
} as RefusedRequests;

describe('refusedCount', () => {
  it.each([
    ['outcome=refused', 9],
    ['outcome=refused&reason=ip_not_allowed', 6],
    ['outcome=refused&reason=rate_limited', 0],
    ['outcome=refused&reason=invalid_key', undefined],
    ['outcome=refused&model=gpt-5', undefined],
    ['outcome=refused&gateway_id=1', undefined],
    ['outcome=charged', undefined],
    ['', undefined],
  ])('of %s is %s', (query, count) => {
    expect(refusedCount(refused, readFilters(new URLSearchParams(query)))).toBe(count);
  });

  it('is unknown for a reason if there may be more rows', () => {
    const rows = Array.from({ length: 100 }, () => row('ip_not_allowed', 1));
    const filters = readFilters(new URLSearchParams('outcome=refused&reason=ip_not_allowed'));
    expect(refusedCount({ ...refused, rows }, filters)).toBeUndefined();
  });
});
