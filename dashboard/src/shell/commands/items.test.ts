import { describe, expect, it } from 'vitest';
import type { User } from '../../api/session';
import { formatMinute } from '../../format/time';
import { makeRequest } from '../../test/makeRequest';
import { moved, pagesAndActions, requestItem, requestSearchItem, userItem } from './items';

const user = { role: 1 as const, token_api_enabled: true };
const administrator = { role: 10 as const, token_api_enabled: true };

function labels(who: Pick<User, 'role' | 'token_api_enabled'>, query: string): string[] {
  return pagesAndActions(who, query).flatMap(({ items }) => items.map(({ label }) => label));
}

describe('pages and actions', () => {
  it('are all there without a query', () => {
    expect(labels(user, '')).toEqual(expect.arrayContaining(['Overview', 'Keys', 'Profile', 'Create key']));
    expect(labels(user, '')).not.toContain('Users');
    expect(labels(administrator, '')).toEqual(expect.arrayContaining(['Keys', 'Users', 'Audit log']));
  });

  it('are found by every word of the query', () => {
    expect(labels(administrator, 'LOG audit')).toEqual(['Audit log']);
    expect(labels(administrator, 'import')).toEqual(['Imports']);
    expect(labels(user, 'audit')).toEqual([]);
    expect(labels(user, 'create')).toEqual(['Create key']);
  });

  it('change the look', () => {
    expect(labels(user, 'dark')).toEqual(['Dark mode']);
    expect(labels(user, 'mode')).toHaveLength(3);
  });

  it('have names that begin with the query first', () => {
    expect(labels(administrator, 'keys')[0]).toBe('Keys');
  });

  it('do not offer a key to users without API access', () => {
    expect(labels({ ...user, token_api_enabled: false }, 'create')).toEqual([]);
  });
});

describe('a user', () => {
  it('opens its page', () => {
    const item = userItem({ id: 7, username: 'ann', display_name: 'Ann' } as User);
    expect(item).toMatchObject({
      label: 'ann',
      hint: 'Ann',
      target: { path: '/admin/users/7' },
    });
  });
});

describe('a request', () => {
  it('opens its details', () => {
    const { at } = makeRequest();
    expect(requestItem(makeRequest(), 'own', at)).toMatchObject({
      label: 'chat-7',
      hint: `gpt-5 · ${formatMinute(at, at)}`,
      target: { path: '/requests?id=c7' },
    });
  });

  it('that was not found yet is searched for on its page', () => {
    expect(requestSearchItem('chat-7', 'allUsers')).toMatchObject({
      label: 'Find the request “chat-7”',
      target: { path: '/admin/usage/requests?request_id=chat-7' },
    });
  });
});

describe('moved', () => {
  it.each([
    [0, 3, 'ArrowDown', 1],
    [2, 3, 'ArrowDown', 0],
    [0, 3, 'ArrowUp', 2],
    [1, 3, 'Enter', undefined],
    [0, 0, 'ArrowDown', undefined],
  ])('from %d of %d with %s', (index, count, key, expected) => {
    expect(moved(index, count, key)).toBe(expected);
  });
});
