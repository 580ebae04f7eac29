import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../../api/adminAudit';
import { formatChange } from '../../../format/money';
import { differenceOf, walletChanges } from './walletChanges';

const line = (details: AuditLine['details']): AuditLine => ({
  id: 1,
  at: 1,
  actor_id: 1,
  actor_name: 'root',
  action: 'user.quota_granted',
  subject_kind: 'user',
  subject_id: 7,
  subject_name: 'ana',
  user_id: 7,
  user_name: 'ana',
  ip: '',
  request_id: '',
  details,
  changes: [],
});

describe('the changes of a wallet', () => {
  it.each([
    [{ from: '500000', to: '5500000' }, 5_000_000, '+$10.00'],
    [{ from: '500000', to: '0' }, -500_000, '-$1.00'],
    [{ from: '0', to: '1' }, 1, '+$0.000002'],
  ])('%j differ by %d units: %s', (details, units, text) => {
    const [change] = walletChanges([line(details)]);
    const difference = change && differenceOf(change);
    expect(difference).toBe(units);
    expect(formatChange(units)).toBe(text);
  });

  it('may have no amounts', () => {
    const [change] = walletChanges([line({ from: 'x' })]);
    expect(change && differenceOf(change)).toBeUndefined();
  });
});
