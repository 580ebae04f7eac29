import { describe, expect, it } from 'vitest';
import { optionsOf, readFilters, requestsHref } from './requestFilters';

describe('readFilters', () => {
  it('reads what a link to requests has', () => {
    const href = requestsHref('own', { token_id: 7, outcome: 'refused', reason: 'ip_not_allowed' });
    expect(href).toBe('/requests?token_id=7&outcome=refused&reason=ip_not_allowed');
    const options = optionsOf(readFilters(new URLSearchParams(href.split('?')[1])));
    expect(options).toMatchObject({ tokenId: 7, outcome: 'refused', reason: 'ip_not_allowed', model: '' });
  });

  it('ignores what the server would refuse', () => {
    const params = new URLSearchParams('outcome=lost&token_id=0&user_id=x&gateway_id=-1&reason=%22');
    expect(Object.values(readFilters(params)).filter(Boolean)).toEqual([]);
  });
});
