import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Setting } from '../../../api/adminSettings';
import { en } from '../../../texts/en';
import { inSection, sections, settingName, settingValue } from './settingText';

function setting(name: string, changes: Partial<Setting> = {}): Setting {
  const variable = `KEYMETER_${name.replace('.', '__').toUpperCase()}`;
  return { name, variable, value: '', is_secret: false, is_set: true, is_default: true, ...changes };
}

describe('settings', () => {
  it('are each in one section', () => {
    const all = Object.keys(en.adminSettings.names).map((name) => setting(name));
    const shown = sections.flatMap((section) => inSection(all, section));
    expect(shown.map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name).sort());
  });

  it('that the server shows all have a name', () => {
    const source = readFileSync('../src/config/shown.rs', 'utf8');
    const listed = /const SHOWN: &str = "([^"]*)"/.exec(source)?.[1]?.split(/[\s\\]+/) ?? [];
    const names = listed.filter((name) => name !== '');
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => settingName(name) === name)).toEqual([]);
  });

  it('of a newer server are shown by their name', () => {
    const newer = setting('server.newer', { value: 'x' });
    expect(inSection([newer], 'server')).toEqual([newer]);
    expect(settingName('server.newer')).toBe('server.newer');
  });

  it.each([
    ['accounts.contact', { is_set: false }, '', 'Not set'],
    ['dashboard.name', { is_set: false }, '', 'Keymeter'],
    ['dashboard.name', { value: 'Ships & Co.' }, 'Ships & Co.', ''],
    ['accounts.registration', { value: 'closed' }, 'closed', ''],
    ['accounts.initial_quota', { value: 750_000 }, '750000', '$1.50'],
    ['models.names', { value: ['small', 'large'] }, 'small, large', ''],
    ['models.names', { value: [], is_set: false }, '', 'None'],
    ['limits.search_per_minute', { value: 0 }, '0', 'No limit'],
    ['limits.search_per_minute', { value: 1000 }, '1000', 'a minute'],
    ['usage.retention_days', { value: 90 }, '90', 'days'],
    ['database.url', { value: null, is_secret: true, is_set: true }, '', 'Set'],
    ['database.url', { value: null, is_secret: true, is_set: false }, '', 'The private PostgreSQL'],
  ] as const)('%s %j', (name, changes, code, hint) => {
    expect(settingValue(setting(name, changes as Partial<Setting>))).toEqual({ code, hint });
  });
});
