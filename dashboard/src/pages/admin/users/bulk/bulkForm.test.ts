import { describe, expect, it } from 'vitest';
import { type BulkForm, bulkErrors, changeOf, emptyBulkForm, readNames } from './bulkForm';

const form = (fields: Partial<BulkForm>): BulkForm => ({ ...emptyBulkForm, ...fields });
const none = { day: '', week: '', month: '' };

describe('readNames', () => {
  it.each([
    ['ana\nben\r\ncleo\n', ['ana', 'ben', 'cleo']],
    [' ana, ben;cleo，李四 ', ['ana', 'ben', 'cleo', '李四']],
    ['ana\tben', ['ana', 'ben']],
    [' \n', []],
  ])('reads %j', (typed, names) => {
    expect(readNames(typed)).toEqual(names);
  });
});

describe('changeOf', () => {
  it.each<[string, Partial<BulkForm>, object]>([
    ['adds dollars', { amount: '12.50', note: ' May ' }, { add_quota: 6_250_000, note: 'May' }],
    [
      'changes the limits that were typed or removed, and no others',
      {
        action: 'limits',
        limits: { day: '', week: '10', month: '40' },
        removed: { day: false, week: false, month: true },
      },
      { period_limits: { week: 5_000_000, month: -1 } },
    ],
    ['sets the group', { action: 'group', group: 'vip', amount: '5' }, { group: 'vip' }],
    ['enables', { action: 'enable' }, { status: 1 }],
    ['disables', { action: 'disable' }, { status: 2 }],
  ])('%s', (_, fields, change) => {
    expect(changeOf(form(fields), [1, 2])).toEqual({ ids: [1, 2], ...change });
  });

  it('names users', () => {
    expect(changeOf(form({ names: 'ana ben', action: 'enable' }), undefined)).toEqual({
      usernames: ['ana', 'ben'],
      status: 1,
    });
  });

  it('sends a file as it is, which tops up', () => {
    const csv = 'user,usd\nana,5\n';
    expect(changeOf(form({ source: 'csv', csv, names: 'ben', action: 'disable' }), undefined)).toEqual({
      csv,
    });
  });
});

describe('bulkErrors', () => {
  const found = (fields: Partial<BulkForm>, ids: number[] | undefined, submitted: boolean) =>
    Object.entries(bulkErrors(form(fields), ids, submitted)).filter(([, error]) => error);

  it('asks for nothing before the form is sent', () => {
    expect(found({}, undefined, false)).toEqual([]);
    expect(found({ source: 'csv' }, undefined, false)).toEqual([]);
    expect(found({ action: 'limits' }, undefined, false)).toEqual([]);
  });

  it.each<[Partial<BulkForm>, number[] | undefined, string[]]>([
    [{}, undefined, ['names', 'amount']],
    [{ amount: '5' }, [1], []],
    [{ amount: '0' }, [1], ['amount']],
    [{ source: 'csv', csv: ' \n' }, undefined, ['csv']],
    [{ action: 'limits', limits: none }, [1], ['limits.day']],
    [{ action: 'limits', limits: { ...none, week: 'ten' } }, [1], ['limits.week']],
    [{ action: 'limits', removed: { day: true, week: false, month: false } }, [1], []],
    [{ action: 'group' }, [1], ['group']],
    [{ action: 'disable' }, [1], []],
  ])('of %j for %j are at %j', (fields, ids, paths) => {
    expect(found(fields, ids, true).map(([path]) => path)).toEqual(paths);
  });
});
