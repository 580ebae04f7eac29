import { describe, expect, it } from 'vitest';
import type { TokenChanges } from '../../../../api/tokenChanges';
import type { Token } from '../../../../api/tokens';
import { makeToken } from '../../../../test/makeToken';
import { differences } from './differences';

const original = makeToken({ note: 'before', remain_quota: 1000, used_quota: 10 });
const limits = { day: 100, week: -1, month: -1 };

function found(theirChanges: Partial<Token>, changes: TokenChanges) {
  const theirs = { ...original, ...theirChanges };
  return differences(original, theirs, changes).map(({ name, mine }) => [name, theirs[name], mine?.[name]]);
}

describe('differences', () => {
  it.each<[string, Partial<Token>, TokenChanges, unknown[][]]>([
    ['both changed a field', { note: 'theirs' }, { note: 'mine' }, [['note', 'theirs', 'mine']]],
    [
      'each changed another field',
      { note: 'theirs' },
      { name: 'mine' },
      [
        ['name', 'Production', 'mine'],
        ['note', 'theirs', undefined],
      ],
    ],
    ['both changed it in the same way', { note: 'same' }, { note: 'same' }, []],
    [
      'both changed one field in the same way, and they another',
      { note: 'same', group: 'vip' },
      { note: 'same' },
      [['group', 'vip', undefined]],
    ],
    ['only charges and the version are new', { remain_quota: 900, used_quota: 110 }, { note: 'mine' }, []],
    ['they added quota, and the form adds some', { remain_quota: 5000 }, { add_quota: 500 }, []],
    [
      'they added quota, and the form sets it',
      { remain_quota: 5000 },
      { remain_quota: 500 },
      [['remain_quota', 5000, 500]],
    ],
    ['the quota is set after charges', { remain_quota: 900, used_quota: 110 }, { remain_quota: 500 }, []],
    [
      'they changed the note, and the form adds quota',
      { note: 'theirs', remain_quota: 900, used_quota: 110 },
      { add_quota: 500 },
      [
        ['remain_quota', 900, 1400],
        ['note', 'theirs', undefined],
      ],
    ],
    [
      'both changed limits, which keep the members that the form does not change',
      { period_limits: limits },
      { period_limits: { month: 700 } },
      [['period_limits', limits, { day: 100, week: -1, month: 700 }]],
    ],
  ])('if %s', (_, theirs, changes, expected) => {
    expect(found(theirs, changes)).toEqual(expected);
  });
});
