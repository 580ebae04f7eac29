import type { TokenChanges } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { usdInput } from '../../../format/money';
import { changedLimits } from '../../../shared/limits/draft';
import { texts } from '../../../texts';
import { noExpiry } from './expiry';
import { characters, MAX_NAME_CHARACTERS } from './fieldErrors';
import { type AnyField, type Draft, fieldList, type fields } from './fields';
import { addedQuota, newQuota } from './quota';

type Fields = typeof fields;
type Limits = Record<string, number>;
/** The fields of a request. */
type Request = { [Name in keyof Fields]: ReturnType<Fields[Name]['write']> } & { add_quota?: number };

export const emptyDraft = each(({ empty }) => empty) as Draft;

export function draftOf(token: Token): Draft {
  return each(({ read }) => read(token)) as Draft;
}

/** For a new token with the settings of another, as it was when it was created. */
export function copyOf(token: Token, now: number): Draft {
  const { unlimited_quota, used_quota, remain_quota, expired_time } = token;
  const draft = draftOf(token);
  return {
    ...draft,
    name: copiedName(token.name),
    remain_quota: unlimited_quota ? newQuota : { ...newQuota, usd: usdInput(used_quota + remain_quota) },
    expired_time: expired_time > now ? draft.expired_time : noExpiry,
  };
}

function copiedName(name: string): string {
  const { copyOf } = texts.keys.form;
  const room = MAX_NAME_CHARACTERS - characters(copyOf(''));
  return copyOf([...name].slice(0, room).join('').trimEnd());
}

/** Converts a valid draft to the fields of the API. */
export function fieldsOf(draft: Draft, now: number): Request {
  const fields = each(({ write }, name) => write(draft[name], draft, now)) as Request;
  return { ...fields, add_quota: addedQuota(draft) };
}

/** The fields, and the members of limits, that differ from the original token. An edit sends only these. */
export function changesOf(draft: Draft, token: Token, now: number): TokenChanges {
  const changes = Object.entries(fieldsOf(draft, now)).map(([name, value]) => {
    const before = token[name as keyof Token];
    if (isLimits(value)) return [name, changedLimits(value, before as Limits)];
    return [name, value === before ? undefined : value];
  });
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined));
}

const isLimits = (value: unknown): value is Limits => typeof value === 'object';

function each(map: (field: AnyField, name: keyof Fields) => unknown) {
  return Object.fromEntries(fieldList.map(([name, field]) => [name, map(field, name)]));
}
