import { describe, expect, it } from 'vitest';
import { shownStates, stoppedStates } from './stateCounts';

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

describe('stoppedStates', () => {
  it('leaves out keys that work, and those that somebody stopped', () => {
    const counts = {
      working: 9,
      disabled: 1,
      expired: 1,
      account_disabled: 1,
      used_up: 2,
      from_a_newer_server: 1,
    };
    expect(stoppedStates(counts)).toEqual([
      ['used_up', 2],
      ['from_a_newer_server', 1],
    ]);
  });
});
