import type { TokenChanges, TokenFieldName } from '../../../../api/tokenChanges';
import type { Token } from '../../../../api/tokens';
import { fieldList } from '../fields';

/** A field that somebody else or the form changed, with different values. */
export interface Difference {
  name: TokenFieldName;
  theirs: Token;
  /** As the changes of the form make it. Absent if the form does not change the field, so that theirs stays. */
  mine: Token | undefined;
}

const names = fieldList.map(([name]) => name);

/**
 * What to choose between, if somebody else changed the token while its form was open. Empty if they changed nothing that
 * the form would overwrite or that it shows with another value: then its changes can be sent.
 */
export function differences(original: Token, theirs: Token, changes: TokenChanges): Difference[] {
  const mine = withChanges(theirs, changes);
  const isMine = (name: TokenFieldName) =>
    changes[name] !== undefined || (name === 'remain_quota' && changes.add_quota !== undefined);
  const isTheirs = (name: TokenFieldName) =>
    name === 'remain_quota' ? setsOtherQuota(original, theirs, changes) : differ(name, original, theirs);

  if (!names.some((name) => isTheirs(name) && !(isMine(name) && !differ(name, theirs, mine)))) return [];
  return names
    .filter((name) => (isMine(name) ? differ(name, theirs, mine) : isTheirs(name)))
    .map((name) => ({ name, theirs, mine: isMine(name) ? mine : undefined }));
}

/** The token after the changes. Of limits, only the changed members are sent. */
function withChanges(token: Token, { add_quota = 0, ...changes }: TokenChanges): Token {
  const changed = Object.fromEntries(
    Object.entries(changes).map(([name, value]) => {
      const before = token[name as keyof Token];
      return [name, typeof value === 'object' && value ? { ...(before as object), ...value } : value];
    }),
  );
  const after = { ...token, ...(changed as Partial<Token>) };
  return { ...after, remain_quota: after.remain_quota + add_quota };
}

/** Adding keeps what others added. Setting does not; charges change what is left, but not what was given in all. */
function setsOtherQuota(original: Token, theirs: Token, { remain_quota }: TokenChanges): boolean {
  const given = (token: Token) => token.remain_quota + token.used_quota;
  return remain_quota !== undefined && given(original) !== given(theirs);
}

function differ(name: TokenFieldName, one: Token, other: Token): boolean {
  return JSON.stringify(one[name]) !== JSON.stringify(other[name]);
}
