import { describe, expect, it } from 'vitest';
import { makeToken } from '../../test/makeToken';
import { exactFirst, filterByText, planSearch } from './search';

describe('planSearch', () => {
  it.each([
    ['', { kind: 'none' }],
    ['   ', { kind: 'none' }],
    ['a', { kind: 'local', text: 'a' }],
    [' prod ', { kind: 'local', text: 'prod' }],
    ['sk-ab', { kind: 'server', search: { by: 'key', text: 'sk-ab' } }],
    ['x'.repeat(15), { kind: 'local', text: 'x'.repeat(15) }],
    ['x'.repeat(16), { kind: 'local', text: 'x'.repeat(16), orElse: { by: 'key', text: 'x'.repeat(16) } }],
    ['an old name of more', { kind: 'local', text: 'an old name of more' }],
    ['x'.repeat(48), { kind: 'server', search: { by: 'key', text: 'x'.repeat(48) } }],
    ['sk-ab12**********wxyz', { kind: 'server', search: { by: 'key', text: 'sk-ab12%wxyz' } }],
    ['a%z', { kind: 'server', search: { by: 'name', text: 'a%z' } }],
    ['a%', { kind: 'too_short' }],
    ['%%', { kind: 'too_many_wildcards' }],
  ])('with all tokens loaded: %j', (typed, plan) => {
    expect(planSearch(typed, true)).toEqual(plan);
  });

  it.each([
    ['p', { kind: 'too_short' }],
    ['😀', { kind: 'too_short' }],
    ['pr', { kind: 'server', search: { by: 'name', text: 'pr' } }],
    ['pro d', { kind: 'server', search: { by: 'name', text: 'pro d' } }],
    ['wxyz', { kind: 'server', search: { by: 'name', text: 'wxyz' }, orElse: { by: 'key', text: 'wxyz' } }],
    ['a%b%c', { kind: 'server', search: { by: 'name', text: 'a%b%c' } }],
    ['a%b%c%', { kind: 'too_many_wildcards' }],
    ['ab%%', { kind: 'too_many_wildcards' }],
  ])('with some tokens loaded: %j', (typed, plan) => {
    expect(planSearch(typed, false)).toEqual(plan);
  });
});

describe('narrow', () => {
  const tokens = [
    makeToken({ name: 'Production' }),
    makeToken({ name: 'Übung' }),
    makeToken({ name: '50_a' }),
  ];
  it.each([
    ['PROD', ['Production']],
    ['üb', ['Übung']],
    ['_', ['50_a']],
    ['x', []],
  ])('%s', (text, names) => {
    expect(filterByText(tokens, text).map(({ name }) => name)).toEqual(names);
  });

  it.each([
    ['wxyz', 1],
    ['ab12', 1],
    ['WXYZ', 0],
    ['xyz', 0],
  ])('searches the visible part of the key: %s', (text, found) => {
    expect(filterByText([makeToken({ name: 'Notebook' })], text)).toHaveLength(found);
  });
});

describe('exactFirst', () => {
  it('keeps the order of the others', () => {
    const found = ['Website 2', 'My website', 'website', 'Website'];
    const nameOf = (name: string) => name;
    expect(exactFirst(found, ' Website ', nameOf)).toEqual(['website', 'Website', 'Website 2', 'My website']);
    expect(exactFirst(found, '', nameOf)).toEqual(found);
  });
});
