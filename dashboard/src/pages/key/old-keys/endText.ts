import type { OldKey } from '../../../api/oldKeys';
import { formatDuration } from '../../../format/time';
import { texts } from '../../../texts';

const words = texts.key.oldKeys;

/** How long an old key still works. `now` is in Unix seconds. */
export function endText({ expires_at }: Pick<OldKey, 'expires_at'>, now: number): string {
  if (expires_at == null) return words.waits;
  return expires_at > now ? words.works(formatDuration(expires_at - now)) : words.ending;
}
