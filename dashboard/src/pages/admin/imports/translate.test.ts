import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importDetails, importNotes } from '../../../test/makeImportRun';
import { detailText, noteOf } from './translate';

const source = (file: string) => readFileSync(`../src/import/${file}`, 'utf8').split('#[cfg(test)]')[0] ?? '';

describe('the details of findings', () => {
  it('are shown in the language of the page', () => {
    const shown = Object.entries(importDetails).map(([code, details]) => [
      code,
      ...details.map((detail) => detailText(code, detail)),
    ]);
    expect(shown).toEqual([
      ['username_changed', '“Ana Lee” became “Ana_Lee”'],
      ['username_taken', '“сосо” became “сосо-4”'],
      ['token_name_changed', '“” became “token 25”', '“a\\u{200b}"b"” became “a"b"”'],
      ['role_unknown', 'role 7'],
      ['user_status_unknown', 'status 9'],
      ['switched_off', 'status 3'],
      ['revived', 'status 4'],
      ['expired_from_the_start', 'expiry 0', 'expiry -2'],
      ['key_invalid', '12 characters'],
      ['models_dropped', '1,200 of 1,300'],
      ['ips_dropped', '10.0.0.300 nowhere'],
      ['no_ip_left', '10.0.0.300'],
      ['root_replaced', 'boss'],
      ['email_dropped', 'ana@'],
      ['group_not_open', 'vip'],
      ['usage_orphaned', '2026-03-10'],
    ]);
  });

  it('stay as they are if they are not known', () => {
    expect(detailText('key_invalid', 'too odd')).toBe('too odd');
    expect(detailText('constructor', 'status 3')).toBe('status 3');
  });

  it('are known as the program writes them', () => {
    const formats = ['rules.rs', 'names.rs'].flatMap((file) =>
      [...source(file).matchAll(/(?:Found::new\(.*|let changed = \|.*)format!\("([^"]*)"/g)].map(
        ([, format]) => format,
      ),
    );
    expect(formats).toEqual([
      '{length} characters',
      'status {status}',
      'status {other}',
      '{text:?} became {changed:?}',
      '{} of {all}',
      '{wanted:?} became {:?}',
    ]);
  });
});

describe('the notes', () => {
  it('are sentences in the language of the page', () => {
    expect(importNotes.map(noteOf)).toEqual([
      {
        text: 'There is no table “logs”, so no history was imported. --logs names another database that has it.',
      },
      {
        text: '1 USD is 1,000,000 quota units there and 500,000 here. Quota units are moved as they are.',
      },
    ]);
    const [, unknownUnit] = importNotes;
    expect(noteOf(unknownUnit?.replace('1000000', 'x') ?? '').text).toMatch(/^1 USD is x quota units there/);
  });

  it('are English if they are not known', () => {
    expect(noteOf('the `moon` is full')).toEqual({ text: 'The “moon” is full.', lang: 'en' });
  });

  it('are known as the program writes them', () => {
    const [, ...pushes] = source('mod.rs').split('report.notes.push');
    expect(pushes).toHaveLength(2);
    const [, noHistory] = /let note = "([^"]*)"/.exec(source('mod.rs')) ?? [];
    const [, units] = /notes\.push\(format!\(\s*"([^"]*)"/.exec(source('mod.rs')) ?? [];
    const written = [noHistory, units?.replace('{per_dollar}', '1000000').replace('{}', '500000')];
    expect(written).toEqual(importNotes);
  });
});
