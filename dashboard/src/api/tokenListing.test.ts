import { describe, expect, it } from 'vitest';
import { listingQuery, readState } from './tokenListing';

describe('readState', () => {
  it.each([
    ['disabled', 'disabled'],
    ['state_of_a_newer_server', 'state_of_a_newer_server'],
    ['', undefined],
    ['2', undefined],
    ['"', undefined],
    [null, undefined],
  ])('reads %o', (text, state) => {
    expect(readState(text)).toBe(state);
  });

  it('filters by state', () => {
    expect(listingQuery({ state: 'used_up', sorting: 'name' })).toMatchObject({ state: 'used_up' });
  });
});
