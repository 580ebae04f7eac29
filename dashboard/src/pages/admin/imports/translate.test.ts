import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importDetails, importNotes } from '../../../test/makeImportRun';
import { detailText, noteOf } from './translate';

describe('the details of findings', () => {
  it('are shown in the language of the page', () => {
    const shown = Object.entries(importDetails).map(([code, details]) => [code, ...details.map(detailText)]);
    expect(shown).toEqual([
      ['username_changed', '“Ana Lee” became “Ana_Lee”'],
      ['username_taken', '“сосо” became “сосо-4”'],
      ['token_name_changed', '“” became “token 25”', '“a\\u{200b}"b"” became “a"b"”'],
      ['administrator_imported', 'root-1, role 100'],
      ['administrator_lowered', 'bob, role 10'],
      ['known_password', 'root-1'],
      ['password_too_costly', 'cost 13'],
      ['second_factor', 'ana'],
      ['role_unknown', 'role 7'],
      ['user_status_unknown', 'status 9'],
      ['switched_off', 'status 3'],
      ['revived', 'status 4'],
      ['expired_from_the_start', 'expiry 0', 'expiry -2'],
      ['expiry_beyond_calendar', 'expiry 1767225600000'],
      ['key_invalid', '12 characters'],
      ['models_dropped', '1,200 of 1,300'],
      ['model_stars', '1 of 3'],
      ['ips_dropped', '10.0.0.300 nowhere'],
      ['no_ip_left', '10.0.0.300'],
      ['root_replaced', 'boss'],
      ['email_dropped', 'ana@'],
      ['group_not_open', 'vip'],
      ['usage_model_cut', 'a-model'],
      ['usage_below_zero', '2026-03-10'],
      ['usage_orphaned', '2026-03-10'],
      ['restriction_lost', 'users.daily_token_limit, 3 rows'],
    ]);
  });
});

describe('the notes', () => {
  it('are sentences in the language of the page', () => {
    expect(importNotes.map(noteOf)).toEqual([
      {
        text: 'There is no table “logs” that the account may read, so no history was imported. --logs names another database that has it.',
      },
      {
        text: 'The table “logs” has no row although quota was used, so no history was imported. If LOG_SQL_DSN of the other service names another database, name it with --logs.',
      },
      { text: 'The other service still worked.' },
      { text: '1 USD is 1,000,000 quota units there and 500,000 here. Quota units are moved as they are.' },
    ]);
  });

  it('have the text of the server if their code is unknown', () => {
    expect(noteOf({ code: 'odd', message: 'something `odd` happened' })).toEqual({
      text: 'Something “odd” happened.',
      lang: 'en',
    });
  });

  it('are known as the program writes them', () => {
    const source = readFileSync('../crates/import/src/report.rs', 'utf8');
    const codes = [...source.matchAll(/Self \{ code: "([a-z_]+)"/g)].map(([, code]) => code);
    expect(codes).toEqual(importNotes.map(({ code }) => code));
  });
});
