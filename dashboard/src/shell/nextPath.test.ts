import { describe, expect, it } from 'vitest';
import { roles } from '../api/serverLimits';
import { homeOf, nextPath, signInPath } from './nextPath';

const ORIGIN = 'https://keys.example.org';

describe('nextPath', () => {
  it.each([
    ['', '/'],
    ['next=%2Fkeys%2F7%3Fa%3D1%23b', '/keys/7?a=1#b'],
    ['next=https%3A%2F%2Fevil.example', '/'],
    ['next=%2F%2Fevil.example%2Fkeys', '/'],
    ['next=%2F%5Cevil.example', '/'],
    ['next=%2F%09%2Fevil.example', '/'],
    ['next=javascript%3Aalert(1)', '/'],
    ['next=keys', '/'],
    ['next=/keys//7', '/keys//7'],
    ['next=/keys%3Fnext=//evil.example%23//evil.example', '/keys?next=//evil.example#//evil.example'],
    ['next=/keys/../tokens', '/tokens'],
  ])('%s', (search, path) => {
    expect(nextPath(search, '/', ORIGIN)).toBe(path);
  });

  it.each([
    '//evil.example',
    '///evil.example',
    '/.//evil.example',
    '/././/evil.example',
    '/..//evil.example',
    '/keys/..//evil.example',
    '/%2e//evil.example',
    '/%2E%2e//evil.example',
    '/\\evil.example',
    '/.\\\\evil.example',
    '/.\\/evil.example',
    '\\\\evil.example',
    '/%2f/evil.example',
    '/%2Fevil.example',
    '/%5cevil.example',
    '/.//user@evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r/evil.example',
    '/.\t//evil.example',
    '/./\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    'https:evil.example',
    'https:///evil.example',
    '/\u0000//evil.example/..//evil.example',
  ])('stays on this site for %j', (next) => {
    const path = nextPath(`next=${encodeURIComponent(next)}`, '/', ORIGIN);
    expect(path).not.toMatch(/^.[/\\]/);
    for (const read of [path, decodeURIComponent(path)]) expect(new URL(read, ORIGIN).origin).toBe(ORIGIN);
  });

  it('is the home of the user if no page was asked for', () => {
    expect(nextPath('', homeOf({ role: roles.administrator }), ORIGIN)).toBe('/admin');
    expect(nextPath('next=/keys', homeOf({ role: roles.root }), ORIGIN)).toBe('/keys');
    expect(nextPath('', homeOf({ role: roles.user }), ORIGIN)).toBe('/');
  });

  it('returns the path passed to signInPath', () => {
    expect(nextPath(signInPath('/keys?q=a&b').split('?')[1] ?? '', '/', ORIGIN)).toBe('/keys?q=a&b');
  });
});
