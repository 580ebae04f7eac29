import { describe, expect, it } from 'vitest';
import { shownStates } from './stateCounts';

describe('shownStates', () => {
  const always = ['working', 'disabled', 'expired', 'used_up'];

  it('shows four states while the numbers are unknown', () => {
    expect(shownStates()).toEqual(always);
  });

  it('adds the states that keys are in, also those of a newer server', () => {
    const counts = { working: 2, key_limit_reached: 1, account_empty: 0, from_a_newer_server: 3 };
    expect(shownStates(counts)).toEqual([...always, 'key_limit_reached', 'from_a_newer_server']);
  });
});
