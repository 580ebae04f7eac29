import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeImportRun } from '../../../test/makeImportRun';
import { texts } from '../../../texts';
import { findingsOf, notMovedOf, summaryOf, sumsOf } from './report';

const words = texts.adminImports;
const { report } = makeImportRun();
const withFindings = (findings: typeof report.findings) => ({ ...report, findings });

/** The first texts between quotation marks of lines that match. */
function named(file: string, line: RegExp): string[] {
  return [...readFileSync(`../crates/import/src/${file}`, 'utf8').matchAll(line)].map(
    ([, name]) => name ?? '',
  );
}

describe('the findings', () => {
  it('are in the order of the texts, with sentences by their code', () => {
    const found = findingsOf(report);
    expect(found.map(({ code }) => code)).toEqual(['username_taken', 'wallet_debt', 'key_taken']);
    expect(found[0]).toMatchObject({ count: 1, text: expect.stringMatching(/^Username belonged to /) });
  });

  it('have the meaning of the server if the code is unknown, after the others', () => {
    const unknown = { meaning: 'keys have `odd` colours', count: 3, rows: [] };
    const found = findingsOf(withFindings({ aaa: unknown, constructor: unknown, ...report.findings }));
    expect(found.at(-1)).toEqual({
      code: 'constructor',
      text: 'Keys have “odd” colours.',
      count: 3,
      rows: [],
    });
    expect(found.at(-2)?.code).toBe('aaa');
  });

  it('name accounts and keys by their IDs there, and amounts as quota units', () => {
    expect(findingsOf(report).map(({ rows }) => rows)).toEqual([
      [{ subject: 'Account 4', detail: '“сосо” became “сосо-4”' }],
      [{ subject: 'Account 5', detail: '', units: 700 }],
      [{ subject: 'Key 25 of account 3', detail: '' }],
    ]);
  });

  it('have the day of an amount, and no empty rows', () => {
    const rows = [{ user_id: 8, detail: { quota: 9, day: '2026-03-10' } }, {}, { detail: { text: 'vip' } }];
    const found = findingsOf(withFindings({ usage_below_zero: { meaning: '', count: 1, rows } }));
    expect(found[0]?.rows).toEqual([
      { subject: 'Account 8', detail: '2026-03-10', units: 9 },
      { subject: '', detail: 'vip' },
    ]);
  });

  it('have a text for every code of the program', () => {
    const codes = named('findings.rs', /^ {4}[A-Z]\w+ = "([a-z_]+)",/gm);
    expect(codes.length).toBeGreaterThan(30);
    expect(Object.keys(words.findings)).toEqual(codes);
  });
});

describe('what was not moved', () => {
  it('has only kinds with rows', () => {
    expect(notMovedOf(report)).toEqual([
      { kind: 'channels', name: 'Channels', count: 2 },
      { kind: 'two-factor secrets', name: 'Two-factor secret', count: 1 },
    ]);
    const values = notMovedOf({ ...report, not_moved: { 'values of `users.remark`': 4 } });
    expect(values.map(({ name }) => name)).toEqual(['Values of users.remark']);
    const other = notMovedOf({ ...report, not_moved: { 'odd things': 4 } });
    expect(other).toEqual([{ kind: 'odd things', name: 'Odd things', count: 4 }]);
  });

  it('has a text for every kind of the program', () => {
    expect(Object.keys(words.notMovedKinds)).toEqual(named('schema.rs', /^ {4}\("[a-z_]+", "([^"]+)"\),$/gm));
  });
});

it('the summary counts what was imported', () => {
  expect(summaryOf(report)).toBe('7 accounts, 14 keys, 2 access tokens');
});

it('the sums are in the order of the report for people', () => {
  expect(sumsOf(report).map(({ name }) => name)).toEqual([
    'wallets',
    'wallets_used',
    'keys_remaining',
    'keys_used',
  ]);
  expect(sumsOf(report)[1]).toEqual({ name: 'wallets_used', there: 70_100, here: 70_100 });
});
