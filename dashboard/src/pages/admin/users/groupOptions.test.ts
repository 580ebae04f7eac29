import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../api/adminSettings';
import { groupOptions } from './groupOptions';

const group = (name: string) => ({ name, description: '', ratio: '1', open: true });

const settings: Settings = {
  groups: [group('default'), group('vip')],
  settings: [
    {
      name: 'accounts.initial_group',
      variable: '',
      is_secret: false,
      is_set: true,
      is_default: true,
      value: 'default',
    },
  ],
};

const labelsOf = (...args: Parameters<typeof groupOptions>) =>
  groupOptions(...args).map(({ label }) => label);

describe('the groups of an account', () => {
  it('are those of the settings', () => {
    expect(labelsOf(settings, 'vip')).toEqual(['default', 'vip']);
  });

  it('are one more for a new account: the default', () => {
    expect(labelsOf(settings, undefined)).toEqual(['Default (default)', 'default', 'vip']);
  });

  it('have the present one, which may be unknown', () => {
    expect(labelsOf(settings, 'old')).toEqual(['old (no longer in the settings)', 'default', 'vip']);
  });

  it('have the present one while the settings are unknown', () => {
    expect(labelsOf(undefined, 'vip')).toEqual(['vip']);
    expect(groupOptions(undefined, undefined).map(({ value }) => value)).toEqual(['']);
  });
});
