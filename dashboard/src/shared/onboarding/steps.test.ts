import { describe, expect, it } from 'vitest';
import { administratorSteps, userSteps } from './steps';

function done(steps: { name: string; done: boolean }[]): string[] {
  return steps.filter((step) => step.done).map(({ name }) => name);
}

describe('the steps of a user', () => {
  it.each([
    [{ keys: 0, copied: false, requests: 0 }, []],
    [{ keys: 1, copied: false, requests: 0 }, ['create']],
    [{ keys: 1, copied: true, requests: 0 }, ['create', 'copy']],
    // The copied key was deleted.
    [{ keys: 0, copied: true, requests: 0 }, []],
    [{ keys: 0, copied: false, requests: 1 }, ['create', 'copy', 'call']],
  ])('%j', (state, expected) => {
    expect(done(userSteps(state))).toEqual(expected);
  });
});

describe('the steps of an administrator', () => {
  const fresh = { gateways: [], groups: ['default'], models: [], users: 1 };

  it.each([
    [{}, []],
    [{ gateways: [{ credentials: [] }] }, []],
    [{ gateways: [{ credentials: [] }, { credentials: [{}] }] }, ['gateway']],
    [{ groups: ['default', 'vip'] }, ['groups']],
    [{ models: ['m'] }, ['models']],
    [{ users: 2 }, ['users']],
  ])('%j', (changes, expected) => {
    expect(done(administratorSteps({ ...fresh, ...changes }))).toEqual(expected);
  });
});
