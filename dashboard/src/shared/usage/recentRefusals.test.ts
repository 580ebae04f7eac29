import { describe, expect, it } from 'vitest';
import type { RecentRefusals } from '../../api/overview';
import { splitRefusals } from './recentRefusals';

const refused = (token_id: number, reason: string, requests: number, alarming: boolean): RecentRefusals => ({
  token_id,
  reason,
  requests,
  alarming,
  last: 0,
});

describe('splitRefusals', () => {
  it('tells those about which somebody has to act from the others', () => {
    const stopped = refused(1, 'token_exhausted', 9, true);
    const all = [
      stopped,
      refused(1, 'model_not_allowed', 5, false),
      refused(2, 'rate_limited', 2, false),
      refused(2, 'model_not_allowed', 1, false),
    ];
    expect(splitRefusals(all)).toEqual({
      alarms: [[stopped]],
      quiet: {
        requests: 8,
        reasons: [
          { reason: 'model_not_allowed', isCured: false },
          { reason: 'rate_limited', isCured: false },
        ],
      },
    });
  });

  it('has one alarm for a key, with its most frequent reason first', () => {
    const frequent = refused(1, 'token_disabled', 9, true);
    const other = refused(2, 'token_expired', 5, true);
    const rare = refused(1, 'user_quota_insufficient', 1, true);
    expect(splitRefusals([frequent, other, rare]).alarms).toEqual([[frequent, rare], [other]]);
  });

  it('names a reason apart where it is cured', () => {
    const cured = { ...refused(1, 'token_exhausted', 9, false), cured: { at: 1 } };
    const { quiet } = splitRefusals([
      cured,
      { ...cured, token_id: 2 },
      refused(3, 'token_exhausted', 2, false),
    ]);
    expect(quiet).toEqual({
      requests: 20,
      reasons: [
        { reason: 'token_exhausted', isCured: true },
        { reason: 'token_exhausted', isCured: false },
      ],
    });
  });
});
