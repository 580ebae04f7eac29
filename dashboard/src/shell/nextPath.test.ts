import { describe, expect, it } from 'vitest';
import { nextPath, signInPath } from './nextPath';

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
  ])('%s', (search, path) => {
    expect(nextPath(search, ORIGIN)).toBe(path);
  });

  it('returns the path passed to signInPath', () => {
    expect(nextPath(signInPath('/keys?q=a&b').split('?')[1] ?? '', ORIGIN)).toBe('/keys?q=a&b');
  });
});
