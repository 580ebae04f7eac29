import { afterEach, expect, it, vi } from 'vitest';
import { initialsOf } from './initials';

afterEach(() => vi.unstubAllGlobals());

const names: [name: string, initials: string][] = [
  ['ada', 'A'],
  ['Ada King Lovelace', 'AL'],
  ['张伟', '张'],
  ['😀', '😀'],
  ['𝒜da 𝓛ovelace', '𝒜𝓛'],
  ['  ', ''],
];

it.each([...names, ['👩🏽‍🔬 lab', '👩🏽‍🔬L'], ['e\u0301va', 'E\u0301']])('of %j are %j', (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

it.each(names)('of %j are %j in browsers that cannot split by characters', async (name, initials) => {
  vi.resetModules();
  vi.stubGlobal('Intl', { ...Intl });
  const { initialsOf } = await import('./initials');
  expect(initialsOf(name)).toBe(initials);
});
