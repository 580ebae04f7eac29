import { formatInteger, formatUsd, parseUsd } from '../../../format/money';
import { texts } from '../../../texts';
import type { Draft } from './draft';
import { checkIps } from './ips';

// What the server would refuse (spec §8), said at the field before it is asked.
export const MAX_NAME_CHARACTERS = 50;
const MAX_QUOTA = 500_000_000_000_000;
const MAX_MODEL_CHARACTERS = 128;
const MAX_MODELS = 1000;

export type FieldName = 'name' | 'usd' | 'expiresAt' | 'models' | 'ips';
export type Mistakes = Partial<Record<FieldName, string>>;

const words = texts.keys.form.mistakes;

export function characters(text: string): number {
  return [...text].length;
}

export function mistakesOf(draft: Draft): Mistakes {
  const mistakes: Record<FieldName, string | undefined> = {
    name: nameMistake(draft.name.trim()),
    usd: draft.unlimited ? undefined : usdMistake(draft.usd),
    expiresAt: draft.expiry.choice === 'at' && draft.expiry.at === undefined ? words.noMoment : undefined,
    models: draft.limitModels ? modelsMistake(draft.models) : undefined,
    ips: ipsMistake(draft.ips),
  };
  return Object.fromEntries(Object.entries(mistakes).filter(([, mistake]) => mistake !== undefined));
}

function nameMistake(name: string): string | undefined {
  if (name === '') return words.noName;
  if (characters(name) > MAX_NAME_CHARACTERS) return words.longName(MAX_NAME_CHARACTERS);
  return undefined;
}

function usdMistake(typed: string): string | undefined {
  const parsed = parseUsd(typed);
  if ('mistake' in parsed) return texts.common.usdMistake[parsed.mistake];
  return parsed.units > MAX_QUOTA ? words.largeQuota(formatUsd(MAX_QUOTA)) : undefined;
}

function modelsMistake(models: string[]): string | undefined {
  if (models.length > MAX_MODELS) return words.manyModels(formatInteger(MAX_MODELS));
  const long = models.some((name) => characters(name) > MAX_MODEL_CHARACTERS);
  return long ? words.longModel(MAX_MODEL_CHARACTERS) : undefined;
}

function ipsMistake(text: string): string | undefined {
  const { mistakes, tooMany } = checkIps(text);
  if (tooMany) return words.manyIps;
  if (mistakes.length === 0) return undefined;
  return mistakes.map(({ line, entry }) => words.ip(line, entry)).join('\n');
}
