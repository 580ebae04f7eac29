import { describe, expect, it } from 'vitest';
import { makeImportRun } from '../../../test/makeImportRun';
import { importedAdministrators } from './importedAdministrators';

const NOW = 1_700_000_000;
const DAY = 86_400;

const run = (at: number, count: number, ...rows: [string, number][]) =>
  makeImportRun({
    at,
    name: 'east',
    report: {
      findings: {
        administrator_imported: {
          meaning: '',
          count,
          rows: rows.map(([username, role], index) => ({ user_id: index, detail: { username, role } })),
        },
      },
    },
  });

describe('imported administrators', () => {
  it('are those of the last 30 days', () => {
    const runs = [
      run(NOW, 1, ['root-1', 100]),
      makeImportRun({ at: NOW }),
      run(NOW - 30 * DAY + 1, 1, ['bob', 10]),
      run(NOW - 30 * DAY, 1, ['ann', 10]),
    ];
    expect(importedAdministrators(runs, NOW)).toEqual({
      count: 2,
      named: [
        { username: 'root-1', role: 100, source: 'east', at: NOW },
        { username: 'bob', role: 10, source: 'east', at: NOW - 30 * DAY + 1 },
      ],
    });
  });

  it('are counted also if the report does not name them all', () => {
    expect(importedAdministrators([run(NOW, 50, ['bob', 10])], NOW).count).toBe(50);
  });

  it('are none without imports', () => {
    expect(importedAdministrators([], NOW)).toEqual({ count: 0, named: [] });
  });
});
