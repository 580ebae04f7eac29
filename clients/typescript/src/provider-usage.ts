/** What the answer of a provider says that was used, as it is sent to Keymeter. */

import { isObject } from './answers.ts';

/** Keymeter reads no more. */
const MAX_BYTES = 64 * 1024;
const USAGE = ['usage', 'usageMetadata', 'usage_metadata'];
const KEPT = ['model', 'modelVersion', 'service_tier', ...USAGE];

/** A usage or a whole answer as JSON has it. Throws a TypeError if it cannot be JSON, a RangeError if it is too long. */
export function plain(usage: unknown): unknown {
  let json: string | undefined;
  try {
    json = JSON.stringify(usage);
  } catch {
    // Of a cycle or a bigint.
  }
  if (json === undefined) throw new TypeError('usage must be an object that becomes JSON');
  const part = needed(JSON.parse(json));
  if (new TextEncoder().encode(JSON.stringify(part)).length > MAX_BYTES) {
    throw new RangeError('usage is longer than 64 KiB: give the part of the answer that has the counts');
  }
  return part;
}

/**
 * What a cost depends on. The rest of a whole answer is the conversation: it is nothing to Keymeter, and it may be longer
 * than MAX_BYTES.
 */
function needed(answer: unknown): unknown {
  if (!isObject(answer) || !USAGE.some((name) => name in answer)) return answer;
  const kept = KEPT.filter((name) => name in answer).map((name) => [name, answer[name]]);
  // In OpenAI's responses, searches are counted by the items of the output.
  if (Array.isArray(answer.output))
    kept.push(['output', answer.output.map((item) => ({ type: item?.type }))]);
  return Object.fromEntries(kept);
}
