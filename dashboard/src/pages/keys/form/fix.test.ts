import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../test/makeToken';
import { draftOf } from './draft';
import { fixed } from './fix';

const limited = draftOf(
  makeToken({ model_limits_enabled: true, model_limits: 'gpt-5', allow_ips: '192.0.2.7' }),
);
const free = draftOf(makeToken({ model_limits_enabled: false, model_limits: '', allow_ips: '' }));

describe('fixed', () => {
  it('adds a model or an address once', () => {
    expect(fixed(limited, { path: 'model_limits', add: 'o3' }).model_limits).toEqual(['gpt-5', 'o3']);
    expect(fixed(limited, { path: 'model_limits', add: 'gpt-5' })).toBe(limited);
    expect(fixed(limited, { path: 'allow_ips', add: '2001:db8::/64' }).allow_ips).toBe(
      '192.0.2.7\n2001:db8::/64',
    );
    expect(fixed(limited, { path: 'allow_ips', add: '192.0.2.7' })).toBe(limited);
  });

  it('never narrows a key that allows all', () => {
    expect(fixed(free, { path: 'model_limits', add: 'o3' })).toBe(free);
    expect(fixed(free, { path: 'allow_ips', add: '192.0.2.8' })).toBe(free);
  });
});
