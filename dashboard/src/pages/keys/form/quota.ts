import type { Token } from '../../../api/tokens';
import { usdInput } from '../../../format/money';
import { parseUsd } from '../../../format/typed';

/** Gateways charge a token while its form is open, so adding and taking do not depend on what is left. */
export type QuotaMode = 'add' | 'take' | 'set';

export interface Quota {
  mode: QuotaMode;
  /** The amount, as typed. Empty to add or take nothing, or to set no limit in total. */
  usd: string;
  /** What was left when the form opened, in quota units. */
  before: number;
}

interface QuotaDraft {
  unlimited_quota: boolean;
  remain_quota: Quota;
}

export const newQuota: Quota = { mode: 'set', usd: '', before: 0 };

export function quotaOf({ unlimited_quota, remain_quota }: Token): Quota {
  if (unlimited_quota) return { mode: 'set', usd: '', before: remain_quota };
  return quotaDraft('add', remain_quota);
}

/** Whether the key gets or keeps a limit in total. */
export function hasTotal({ mode, usd }: Quota): boolean {
  return mode !== 'set' || usd.trim() !== '';
}

/** How a way to change the quota begins: with nothing to add or take, or with what is left. */
export function quotaDraft(mode: QuotaMode, before: number): Quota {
  return { mode, usd: mode === 'set' ? usdInput(before) : '', before };
}

/** `remain_quota` of the API. */
export function setQuota({ mode, usd }: Quota, { unlimited_quota }: { unlimited_quota: boolean }) {
  const parsed = parseUsd(usd);
  return unlimited_quota || mode !== 'set' || 'error' in parsed ? undefined : parsed.units;
}

/** `add_quota` of the API, which is no field. */
export function addedQuota({ unlimited_quota, remain_quota: { mode, usd } }: QuotaDraft) {
  const parsed = parseUsd(usd);
  if (unlimited_quota || mode === 'set' || 'error' in parsed || parsed.units === 0) return undefined;
  return mode === 'take' ? -parsed.units : parsed.units;
}
