import { ApiError } from '../../../api/error';
import { type Period, periods, type Rate, rates } from '../../../api/limits';
import { limits, requestLimits } from '../../../api/serverLimits';
import { failureText } from '../../../format/failure';
import { formatInteger } from '../../../format/locale';
import { formatUsd, MAX_QUOTA, parseUsd } from '../../../format/money';
import { periodError, rateError } from '../../../shared/limits/draft';
import { texts } from '../../../texts';
import type { Draft } from './draft';
import { checkIps } from './ips';

// The limits of the API are checked here first, to report errors without a request.
export const MAX_NAME_CHARACTERS = requestLimits.CreateBody.name.maxLength;
export const MAX_NOTE_CHARACTERS = requestLimits.CreateBody.note.maxLength;

/** The `name` attributes of the inputs. */
export type FieldName = 'name' | 'usd' | Period | Rate | 'expiresAt' | 'models' | 'ips' | 'note';
export type FieldErrors = Partial<Record<FieldName, string>>;

const words = texts.keys.form.errors;

export function characters(text: string): number {
  return [...text].length;
}

/** The fields that the API would refuse, in the order of the form. */
export function validate(draft: Draft): FieldErrors {
  const errors: FieldErrors = {
    name: nameError(draft.name.trim()),
    usd: draft.unlimited ? undefined : usdError(draft),
    ...errorsOf(periods, (period) => periodError(draft.periodLimits[period])),
    ...errorsOf(rates, (rate) => rateError(draft.rateLimits[rate])),
    expiresAt: draft.expiry.choice === 'at' && draft.expiry.at === undefined ? words.noDateTime : undefined,
    models: draft.limitModels ? modelsError(draft.models) : undefined,
    ips: ipsError(draft.ips),
    note: noteError(draft.note.trim()),
  };
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error !== undefined));
}

const fieldOfCode: Record<string, FieldName | undefined> = {
  invalid_name: 'name',
  invalid_quota: 'usd',
  insufficient_quota: 'usd',
  invalid_expiry: 'expiresAt',
  invalid_models: 'models',
  invalid_ips: 'ips',
  invalid_note: 'note',
};

/** The text for a refusal by the API, at the field it is about. Empty if that field is not shown. */
export function fieldErrorsOf(failure: Error | null, draft: Draft): FieldErrors {
  const field = failure instanceof ApiError ? fieldOfCode[failure.code] : undefined;
  return failure && field && isShown(field, draft) ? { [field]: failureText(failure) } : {};
}

function isShown(field: FieldName, draft: Draft): boolean {
  if (field === 'usd') return !draft.unlimited;
  if (field === 'expiresAt') return draft.expiry.choice === 'at';
  return field !== 'models' || draft.limitModels;
}

function errorsOf<Name extends FieldName>(names: Name[], errorOf: (name: Name) => string | undefined) {
  return Object.fromEntries(names.map((name) => [name, errorOf(name)]));
}

function nameError(name: string): string | undefined {
  if (name === '') return words.noName;
  if (characters(name) > MAX_NAME_CHARACTERS) return words.longName(MAX_NAME_CHARACTERS);
  return undefined;
}

function usdError({ quotaMode, usd, held }: Draft): string | undefined {
  const parsed = parseUsd(usd);
  if (quotaMode !== 'set' && 'error' in parsed && parsed.error === 'empty') return undefined;
  if (quotaMode === 'take' && 'units' in parsed && parsed.units > held) return words.takesTooMuch;
  if ('error' in parsed) return texts.common.usdErrors[parsed.error];
  return parsed.units > MAX_QUOTA ? words.largeQuota(formatUsd(MAX_QUOTA)) : undefined;
}

function modelsError(models: string[]): string | undefined {
  if (models.length === 0) return words.noModels;
  if (models.length > limits.models) return words.manyModels(formatInteger(limits.models));
  const star = models.find((name) => /(^|[^\\])\*./.test(name) || name === '*');
  if (star !== undefined) return words.modelStar(star);
  const long = models.some((name) => characters(name) > limits.model_characters);
  return long ? words.longModel(limits.model_characters) : undefined;
}

function ipsError(text: string): string | undefined {
  const { invalid, tooMany } = checkIps(text);
  if (tooMany) return words.manyIps;
  if (invalid.length === 0) return undefined;
  return invalid.map(({ line, entry }) => words.ip(line, entry)).join('\n');
}

function noteError(note: string): string | undefined {
  return characters(note) > MAX_NOTE_CHARACTERS ? words.longNote(MAX_NOTE_CHARACTERS) : undefined;
}
