import { describe, expect, it } from 'vitest';
import type { RecentRefusals } from '../../api/overview';
import { splitRefusals } from './recentRefusals';

const refused = (reason: string, requests: number, alarming: boolean): RecentRefusals => ({
  reason,
  requests,
  alarming,
  last: 0,
});

describe('splitRefusals', () => {
  it('tells those about which somebody has to act from the others', () => {
    const stopped = refused('token_exhausted', 9, true);
    const all = [
      stopped,
      refused('model_not_allowed', 5, false),
      refused('rate_limited', 2, false),
      refused('model_not_allowed', 1, false),
    ];
    expect(splitRefusals(all)).toEqual({
      alarming: [stopped],
      quiet: { requests: 8, reasons: ['model_not_allowed', 'rate_limited'] },
    });
  });
});
