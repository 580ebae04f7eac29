import { describe, expect, it } from 'vitest';
import { expiresAt } from './lifetime';

describe('expiresAt', () => {
  it('adds days to the current time, or is -1 for never', () => {
    expect(expiresAt('0', 1_800_000_000)).toBe(-1);
    expect(expiresAt('7', 1_800_000_000)).toBe(1_800_604_800);
  });
});
