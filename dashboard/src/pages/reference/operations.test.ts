import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ApiDocument } from '../../api/apiDocument';
import { en } from '../../texts/en';
import {
  answersSecret,
  changesSomething,
  groupByTag,
  KNOWN_OPERATIONS,
  matching,
  type Operation,
  operationsOf,
} from './operations';

const document: ApiDocument = JSON.parse(readFileSync('openapi.json', 'utf8'));
const operations = operationsOf(document);

function find(id: string): Operation {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`no operation ${id}`);
  return operation;
}

describe('the operations', () => {
  it('are all there, each with its own name', () => {
    const count = Object.values(document.paths).reduce((sum, item) => sum + Object.keys(item).length, 0);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(count);
  });

  it('of which something is known exist', () => {
    expect(KNOWN_OPERATIONS.map((id) => find(id).id)).toEqual(KNOWN_OPERATIONS);
  });

  it('have groups, permissions and credentials with texts', () => {
    const { groups, permissions, tryIt } = en.reference;
    const unnamed = operations.filter(
      ({ tag, permission, takesSession, schemes }) =>
        !(tag in groups) ||
        !(permission in permissions) ||
        (!takesSession && !schemes.every((one) => one in tryIt.schemes)),
    );
    expect(unnamed).toEqual([]);
  });

  it('have codes for their failures', () => {
    const create = find('create');
    expect(create.answers.find(({ status }) => status === '409')?.codes).toContain('token_limit_reached');
    expect(create.answers.find(({ status }) => status === '200')?.codes).toEqual([]);
    // This one fails in the shape of the OpenAI API.
    const subscription = find('subscription');
    expect(subscription.answers.find(({ status }) => status === '401')?.codes).toContain('invalid_key');
  });

  it('take the session, or credentials of their own', () => {
    expect(find('list').takesSession).toBe(true);
    expect(find('status').takesSession).toBe(true);
    expect(find('charge')).toMatchObject({
      takesSession: false,
      schemes: ['gateway'],
      permission: 'gateway',
    });
    expect(find('auth').schemes).toEqual(['api_key', 'gateway_in_front']);
  });
});

describe('changesSomething', () => {
  it.each([
    ['list', false],
    ['search_by_post', false],
    ['verify', false],
    ['create', true],
    ['delete', true],
    ['mint', true],
    ['logout', true],
  ])('%s: %s', (id, expected) => {
    expect(changesSomething(find(id))).toBe(expected);
  });
});

it('answersSecret', () => {
  expect(answersSecret(find('show_token'))).toBe(true);
  expect(answersSecret(find('token_details'))).toBe(false);
});

describe('matching', () => {
  it('finds operations by words of method, path and description, in any order', () => {
    const ids = (keyword: string) => matching(operations, keyword).map(({ id }) => id);
    expect(ids('gateway CHARGE post')).toContain('charge');
    expect(ids('/api/token/{id}/details')).toEqual(['token_details']);
    expect(ids('nothing-like-this')).toEqual([]);
    expect(ids(' ')).toHaveLength(operations.length);
  });
});

it('groups begin with the keys and hold everything', () => {
  const groups = groupByTag(operations);
  expect(groups[0]?.tag).toBe('tokens');
  expect(groups.flatMap((group) => group.operations)).toHaveLength(operations.length);
});
