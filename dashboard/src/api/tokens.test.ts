import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../test/makeToken';
import { tokensKey } from './tokenCache';
import type { TokenListing } from './tokenListing';
import { broaderSearch, type TokenSearch } from './tokens';

const listing: TokenListing = { state: undefined, sorting: 'newest' };
const named = (text: string): TokenSearch => ({ by: 'name', text });

function clientWith(search: TokenSearch, total: number) {
  const client = new QueryClient();
  const items = [makeToken()];
  client.setQueryData([...tokensKey, 'search', listing, search, 0], {
    items,
    total,
    page: 0,
    page_size: 100,
  });
  return client;
}

describe('broaderSearch', () => {
  it.each([
    ['pro', 1, 'prod', 'pro'],
    ['Pro', 1, 'the PRODUCTION', 'Pro'],
    ['pro', 1, 'pro', 'pro'],
    ['pro', 101, 'prod', undefined],
    ['pro', 1, 'dev', undefined],
    ['pr%', 1, 'pr%d', undefined],
    ['pro', 1, 'prod%', undefined],
  ])('of %s with %d tokens for %s', (before, total, text, broader) => {
    expect(broaderSearch(clientWith(named(before), total), listing, named(text))?.text).toBe(broader);
  });

  it('is only one of the same list, and not of keys', () => {
    const client = clientWith(named('pro'), 1);
    expect(broaderSearch(client, { ...listing, state: 'disabled' }, named('prod'))).toBeUndefined();
    expect(broaderSearch(client, listing, { by: 'key', text: 'prod' })).toBeUndefined();
  });
});
