import type { ErrorCode } from '../../../api/error';
import { NO_LIMIT, type PeriodLimits, periods, rates } from '../../../api/limits';
import type { TokenChanges, TokenFieldName } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import {
  emptyPeriods,
  emptyRates,
  type PeriodDraft,
  periodDraftOf,
  periodError,
  periodLimitsOf,
  rateDraftOf,
  rateError,
  rateLimitsOf,
} from '../../../shared/limits/draft';
import { AUTO } from '../groupName';
import { expiredTime, expiryOf, noExpiry } from './expiry';
import { expiryError, ipsError, modelsError, nameError, noteError, quotaError } from './fieldErrors';
import { hasTotal, newQuota, type Quota, quotaOf, setQuota } from './quota';

/** One error, or those of several inputs by their names. */
type FieldError = string | undefined | Record<string, string | undefined>;

interface Field<Value, Sent> {
  /** In the form of a new token. */
  empty: Value;
  /** In the form of an existing token. */
  read(token: Token): Value;
  /** For the API. `undefined` is not sent. */
  write(value: Value, draft: object, now: number): Sent;
  error?(value: Value, draft: object): FieldError;
  /** The refusals of the API that are about this field. */
  refusals?: ErrorCode[];
  /** Whether there is an input at which a refusal can be shown. Absent if there always is. */
  hasInput?(value: Value): boolean;
  /** The form shows and checks the field only if this is true. */
  shown?(draft: object): boolean;
  /** The field that it is shown with. */
  partOf?: TokenFieldName;
  /** Shown only if asked for, or if it has a value. */
  advanced?: boolean;
}

/** The names of the fields that a switch edits. */
export type SwitchName = {
  [Name in TokenFieldName]: Token[Name] extends boolean ? Name : never;
}[TokenFieldName];

const isAuto = ({ group }: { group: string }) => group === AUTO;
const isLimited = ({ unlimited_quota }: { unlimited_quota: boolean }) => !unlimited_quota;

/**
 * All fields of a token that its owner sets, in the order of the form. The form, its checks and requests follow from
 * this list; texts are in `keys.fields`. A boolean is edited by a switch.
 */
export const fields = {
  name: { ...text('name'), error: nameError, refusals: ['invalid_name'] },
  period_limits: {
    ...field({
      empty: emptyPeriods,
      read: ({ period_limits }) => periodDraftOf(period_limits),
      write: (typed, draft: { unlimited_quota: boolean }) =>
        periodLimitsOf(isLimited(draft) ? typed : emptyPeriods),
      error: (typed) => errorsOf(periods, (period) => periodError(typed[period])),
      shown: isLimited,
    }),
    partOf: 'remain_quota',
  },
  remain_quota: field({
    empty: newQuota,
    read: quotaOf,
    write: setQuota,
    error: (quota, { period_limits }: { period_limits: PeriodDraft }) => quotaError(quota, period_limits),
    refusals: ['invalid_quota', 'insufficient_quota'],
    shown: isLimited,
  }),
  unlimited_quota: {
    ...toggle('unlimited_quota'),
    // In the form, a key that only its periods limit is not unlimited.
    read: (token) => token.unlimited_quota && !hasPeriodLimit(token),
    write: (on: boolean, { remain_quota }: { remain_quota: Quota }) => on || !hasTotal(remain_quota),
    partOf: 'remain_quota',
  },
  model_limits_enabled: { ...toggle('model_limits_enabled'), partOf: 'model_limits' },
  model_limits: field({
    empty: [] as string[],
    read: ({ model_limits }) => model_limits.split(',').filter((name) => name !== ''),
    write: (names) => names.join(','),
    error: modelsError,
    refusals: ['invalid_models'],
    shown: ({ model_limits_enabled }: { model_limits_enabled: boolean }) => model_limits_enabled,
  }),
  expired_time: field({
    empty: noExpiry,
    read: ({ expired_time }) => expiryOf(expired_time),
    write: (expiry, _, now) => expiredTime(expiry, now),
    error: expiryError,
    refusals: ['invalid_expiry'],
    hasInput: ({ choice }) => choice === 'at',
  }),
  rate_limits: {
    ...field({
      empty: emptyRates,
      read: ({ rate_limits }) => rateDraftOf(rate_limits),
      write: rateLimitsOf,
      error: (typed) => errorsOf(rates, (rate) => rateError(typed[rate])),
    }),
    advanced: true,
  },
  group: { ...field({ empty: '', read: ({ group }) => group, write: (group) => group }), advanced: true },
  cross_group_retry: {
    ...toggle('cross_group_retry'),
    write: (on: boolean, draft: { group: string }) => on && isAuto(draft),
    shown: isAuto,
    partOf: 'group',
  },
  allow_ips: {
    ...text('allow_ips'),
    write: ipLines,
    error: ipsError,
    refusals: ['invalid_ips'],
    advanced: true,
  },
  show_addresses: { ...toggle('show_addresses'), advanced: true },
  note: { ...text('note'), error: noteError, refusals: ['invalid_note'], advanced: true },
} satisfies { [Name in TokenFieldName]: Field<unknown, TokenChanges[Name]> };

/** For what treats all fields alike. */
export type AnyField = Field<unknown, unknown>;
export const fieldList = Object.entries(fields) as [TokenFieldName, AnyField][];

export interface Section {
  main: TokenFieldName;
  /** The names of the fields that are shown together. */
  names: TokenFieldName[];
  advanced: boolean;
}

export const sections = fieldList
  .filter(([, { partOf }]) => !partOf)
  .map(
    ([main, { advanced = false }]): Section => ({
      main,
      names: fieldList.filter(([name, { partOf }]) => name === main || partOf === main).map(([name]) => name),
      advanced,
    }),
  );

/** What the form of a token holds. */
export type Draft = { [Name in TokenFieldName]: (typeof fields)[Name]['empty'] };

/** Whether an advanced field has a value. */
export function hasAdvanced(draft: Draft): boolean {
  return fieldList.some(
    ([name, { advanced, empty }]) => advanced && JSON.stringify(draft[name]) !== JSON.stringify(empty),
  );
}

export function isSwitch(name: TokenFieldName): name is SwitchName {
  return typeof fields[name].empty === 'boolean';
}

function field<Value, Sent>(definition: Field<Value, Sent>) {
  return definition;
}

function text(name: 'name' | 'note' | 'allow_ips') {
  return field({ empty: '', read: (token) => token[name], write: (typed) => typed.trim() });
}

function toggle(name: SwitchName) {
  return field({ empty: false as boolean, read: (token) => token[name], write: (on) => on });
}

function hasPeriodLimit({ period_limits }: { period_limits: PeriodLimits }): boolean {
  return periods.some((period) => period_limits[period] !== NO_LIMIT);
}

function errorsOf<Name extends string>(names: Name[], errorOf: (name: Name) => string | undefined) {
  return Object.fromEntries(names.map((name) => [name, errorOf(name)]));
}

/** Splits lines and commas. */
function ipLines(typed: string): string {
  const entries = typed.split(/[\n,]/).map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').join('\n');
}
