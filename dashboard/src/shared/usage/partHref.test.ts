import { describe, expect, it } from 'vitest';
import type { ReportRow } from '../../api/usageReports';
import { dayHref, partHref, requestsOf } from './partHref';

const row = (fields: Partial<ReportRow>) => fields as ReportRow;
const range = { start: '2026-11-01', end: '2026-11-28' };
const params = new URLSearchParams('range=month&compare=year&by=token&user_id=9&order=change');
const days = 'range=month&compare=year';
const ends = 'range=custom&from=2026-11-01&to=2026-11-28';

describe('the page of what a row is made of', () => {
  it('is that of its key or user, with the same days and the same comparison', () => {
    expect(partHref(row({ token_id: 7 }), { range }, params)).toBe(`/keys/7?${days}`);
    const all = { scope: 'allUsers', range } as const;
    expect(partHref(row({ token_id: 7, user_id: 2 }), all, params)).toBe(`/admin/tokens/7?${days}`);
    expect(partHref(row({ user_id: 2 }), all, params)).toBe(`/admin/usage?${days}&user_id=2`);
  });

  it('has the requests of its model or gateway', () => {
    const all = { scope: 'allUsers', range } as const;
    const path = '/admin/usage/requests';
    expect(partHref(row({ gateway_id: 3 }), all, params)).toBe(`${path}?gateway_id=3&${ends}`);
    const ofUser = { ...all, userId: 2 };
    expect(partHref(row({ model: 'o3' }), ofUser, params)).toBe(`${path}?user_id=2&model=o3&${ends}`);
    const ofKey = { range, tokenId: 7 };
    expect(partHref(row({ model: 'o3' }), ofKey, params)).toBe(`/requests?token_id=7&model=o3&${ends}`);
  });

  it('is absent for what no request can be searched by', () => {
    expect(partHref(row({ model: '' }), { range }, params)).toBeUndefined();
    expect(partHref(row({ group: 'vip' }), { range }, params)).toBeUndefined();
    expect(partHref(row({ gateway_id: null }), { scope: 'allUsers', range }, params)).toBeUndefined();
  });
});

it('a day and an hour are made of their requests', () => {
  expect(requestsOf('2026-11-28', { range })).toBe('/requests?range=custom&from=2026-11-28&to=2026-11-28');
  expect(requestsOf('1792886400', { scope: 'allUsers', range, userId: 2 })).toBe(
    '/admin/usage/requests?user_id=2&range=custom&from=1792886400&to=1792889999',
  );
});

it('a day of many opens on the same page, without other days that were chosen for all', () => {
  const day = 'range=custom&from=2026-11-28&to=2026-11-28';
  const open = (query: string) => dayHref('/usage', new URLSearchParams(query), '2026-11-28');
  expect(open('by=token')).toBe(`/usage?by=token&${day}`);
  expect(open('range=30d&compare=year')).toBe(`/usage?compare=year&${day}`);
  expect(open('compare=custom&compare_from=2026-01-01&compare_to=2026-01-31')).toBe(`/usage?${day}`);
});
