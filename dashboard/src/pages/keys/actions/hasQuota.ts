import type { Token } from '../../../api/tokens';

/** Only keys with a limit in total have quota that can be added to. */
export function hasQuota({ unlimited_quota }: Token): boolean {
  return !unlimited_quota;
}
