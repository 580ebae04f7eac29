import type { Setting } from '../../../api/adminSettings';
import { formatUsdExact } from '../../../format/money';
import { texts } from '../../../texts';

const words = texts.adminSettings;

type SettingName = keyof typeof words.names;

/** The sections of the page, in the order of the API's settings. */
export const sections = ['gateway', 'accounts', 'usage', 'limits', 'compat', 'server', 'secrets'] as const;
export type Section = (typeof sections)[number];

const sectionOf: Record<SettingName, Section> = {
  'http.public_url': 'gateway',
  'dashboard.api_base_url': 'gateway',
  'models.names': 'gateway',
  'accounts.registration': 'accounts',
  'accounts.token_api': 'accounts',
  'accounts.contact': 'accounts',
  'accounts.initial_quota': 'accounts',
  'accounts.initial_group': 'accounts',
  'accounts.max_tokens': 'accounts',
  'tokens.restore_days': 'accounts',
  'usage.time_zone': 'usage',
  'usage.week_starts': 'usage',
  'usage.retention_days': 'usage',
  'usage.client_addresses': 'usage',
  'compat.client': 'compat',
  'compat.list_key': 'compat',
  'compat.first_page': 'compat',
  'compat.unlimited_limit': 'compat',
  'limits.search_per_minute': 'limits',
  'limits.login_per_minute': 'limits',
  'limits.usage_per_minute': 'limits',
  'limits.drop_in_per_minute': 'limits',
  'limits.wrong_keys_per_minute': 'limits',
  'limits.wrong_credentials_per_minute': 'limits',
  'limits.register_per_minute': 'limits',
  'limits.writes_per_minute': 'limits',
  'dashboard.name': 'server',
  'dashboard.logo': 'server',
  'server.trusted_proxies': 'server',
  'server.metrics': 'server',
  'cell.label': 'server',
  'database.url': 'secrets',
  'secrets.master_key': 'secrets',
  'root.password': 'secrets',
};

function isKnown(name: string): name is SettingName {
  return Object.hasOwn(sectionOf, name);
}

/** A setting of a newer server has no section of its own. */
export function inSection(settings: Setting[], section: Section): Setting[] {
  return settings.filter(({ name }) => (isKnown(name) ? sectionOf[name] : 'server') === section);
}

export function settingName(name: string): string {
  return isKnown(name) ? words.names[name] : name;
}

export interface SettingValueText {
  /** As in the settings file. Empty if there is nothing to show. */
  code: string;
  /** What the value means, or that there is none. */
  hint: string;
}

const unset: Partial<Record<string, string>> = words.unset;

export function settingValue({ name, value, is_secret, is_set }: Setting): SettingValueText {
  if (!is_set) return { code: '', hint: unset[name] ?? words.notSet };
  if (is_secret || value === undefined || value === null) return { code: '', hint: words.set };
  if (Array.isArray(value)) return { code: value.join(', '), hint: '' };
  if (typeof value === 'number') return { code: String(value), hint: numberHint(name, value) };
  return { code: String(value), hint: '' };
}

function numberHint(name: string, value: number): string {
  if (name === 'accounts.initial_quota') return formatUsdExact(value);
  // The number itself stands before the hint.
  if (name === 'usage.retention_days' || name === 'tokens.restore_days') return words.days(value);
  if (name.startsWith('limits.')) return value === 0 ? words.noLimit : words.perMinute;
  return '';
}
