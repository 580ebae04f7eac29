import { limits, requestLimits } from '../../../api/serverLimits';
import { formatInteger } from '../../../format/locale';
import { formatUsd, formatUsdExact, MAX_QUOTA } from '../../../format/money';
import { parseUsd } from '../../../format/typed';
import type { PeriodDraft } from '../../../shared/limits/draft';
import { texts } from '../../../texts';
import type { Expiry } from './expiry';
import { checkIps } from './ips';
import { hasTotal, type Quota } from './quota';

// The limits of the API are checked here first, to report errors without a request.
export const MAX_NAME_CHARACTERS = requestLimits.CreateBody.name.maxLength;
export const MAX_NOTE_CHARACTERS = requestLimits.CreateBody.note.maxLength;

const words = texts.keys.form.errors;

export function characters(text: string): number {
  return [...text].length;
}

export function nameError(typed: string): string | undefined {
  const name = typed.trim();
  if (name === '') return words.noName;
  if (characters(name) > MAX_NAME_CHARACTERS) return words.longName(MAX_NAME_CHARACTERS);
  return undefined;
}

export function quotaError(quota: Quota, periods: PeriodDraft): string | undefined {
  const { mode, usd, before } = quota;
  if (!hasTotal(quota)) {
    return Object.values(periods).every((typed) => typed.trim() === '') ? words.noLimit : undefined;
  }
  const parsed = parseUsd(usd);
  if (mode !== 'set' && 'error' in parsed && parsed.error === 'empty') return undefined;
  if (mode === 'take' && 'units' in parsed && parsed.units > before)
    return words.takesTooMuch(formatUsdExact(before));
  if ('error' in parsed) return texts.common.usdErrors[parsed.error];
  return parsed.units > MAX_QUOTA ? words.largeQuota(formatUsd(MAX_QUOTA)) : undefined;
}

export function modelsError(models: string[]): string | undefined {
  if (models.length === 0) return words.noModels;
  if (models.length > limits.models) return words.manyModels(formatInteger(limits.models));
  const star = models.find((name) => /(^|[^\\])\*./.test(name) || name === '*');
  if (star !== undefined) return words.modelStar(star);
  const long = models.some((name) => characters(name) > limits.model_characters);
  return long ? words.longModel(limits.model_characters) : undefined;
}

export function ipsError(text: string): string | undefined {
  const { invalid, tooMany } = checkIps(text);
  if (tooMany) return words.manyIps;
  if (invalid.length === 0) return undefined;
  return invalid.map(({ line, entry }) => words.ip(line, entry)).join('\n');
}

export function noteError(typed: string): string | undefined {
  return characters(typed.trim()) > MAX_NOTE_CHARACTERS ? words.longNote(MAX_NOTE_CHARACTERS) : undefined;
}

export function expiryError({ choice, at }: Expiry): string | undefined {
  return choice === 'at' && at === undefined ? words.noDateTime : undefined;
}
