import { describe, expect, it } from 'vitest';
import { type OldKey, refetchInterval } from './oldKeys';

const NOW = 1_800_000_000;
const endingIn = (seconds: number | null): OldKey => ({
  id: 1,
  masked_key: 'sk-abcd**********wxyz',
  rotated_at: NOW,
  expires_at: seconds === null ? null : NOW + seconds,
  last_used_at: null,
});
const interval = (...ends: (number | null)[]) => refetchInterval(ends.map(endingIn), NOW * 1000);

describe('old keys are loaded again', () => {
  it('never while there are none', () => {
    expect(interval()).toBe(false);
  });

  it('every half a minute while they work', () => {
    expect(interval(null)).toBe(31_000);
    expect(interval(3600, null)).toBe(31_000);
  });

  it('a second after the next one ends', () => {
    expect(interval(null, 10, 20)).toBe(11_000);
  });

  it('not more than once a second, also if the clock of the browser is wrong', () => {
    expect(interval(-3600)).toBe(1000);
  });
});
