import type { Draft } from './fields';

/** A change that a refusal asks for. */
export interface Fix {
  /** The path of the input that gets the focus. */
  path: string;
  /** What to add to its list. */
  add?: string;
}

/** The draft with what the fix adds. A list that allows all stays empty: with an entry it would allow less. */
export function fixed(draft: Draft, { path, add }: Fix): Draft {
  if (!add) return draft;
  const { model_limits, model_limits_enabled, allow_ips } = draft;
  if (path === 'model_limits' && model_limits_enabled && !model_limits.includes(add)) {
    return { ...draft, model_limits: [...model_limits, add] };
  }
  const ips = allow_ips.split('\n');
  if (path === 'allow_ips' && allow_ips.trim() !== '' && !ips.includes(add)) {
    return { ...draft, allow_ips: [...ips, add].join('\n') };
  }
  return draft;
}
