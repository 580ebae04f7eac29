import { describe, expect, it } from 'vitest';
import { en } from '../../../texts/en';
import { DEFAULT_GRACE, endsAtOnce, graceChoices, graces } from './grace';

const MAX_GRACE_SECONDS = 30 * 86_400;

describe('the choices of how long an old key works', () => {
  it('are from the shortest to the longest, first a day after the first use of the new key', () => {
    expect(graceChoices).toEqual(['leaked', 'hour', 'day', 'week', 'first_use']);
    expect(graces[DEFAULT_GRACE]).toEqual({ grace_seconds: 86_400, grace_from: 'first_use' });
  });

  it('have a text each, and are what the API accepts', () => {
    expect(Object.keys(en.keys.replace.choices)).toEqual(graceChoices);
    for (const { grace_seconds } of Object.values(graces)) {
      expect(grace_seconds).toBeGreaterThanOrEqual(0);
      expect(grace_seconds).toBeLessThanOrEqual(MAX_GRACE_SECONDS);
    }
  });

  it('are dangerous only if the old key ends at once', () => {
    expect(graceChoices.filter(endsAtOnce)).toEqual(['leaked']);
    expect(graces.leaked.grace_from).toBe('now');
  });
});
