import type { ChangedUser, UserState } from '../../../../api/bulkUsers';
import { NO_LIMIT, periods } from '../../../../api/limits';
import { formatList } from '../../../../format/list';
import { formatUsd, formatUsdExact } from '../../../../format/money';
import { texts } from '../../../../texts';
import { ENABLED } from '../status';
import type { BulkAction } from './bulkForm';

/** What the action changes of an account, as it is. */
export function stateText(action: BulkAction, { quota, period_limits, group, status }: UserState): string {
  switch (action) {
    case 'top_up':
      return formatUsd(quota);
    case 'limits': {
      const limited = periods.filter((period) => period_limits[period] !== NO_LIMIT);
      const each = limited.map((period) =>
        texts.limits.presets[period](formatUsdExact(period_limits[period])),
      );
      return each.length === 0 ? texts.adminBulk.noLimits : formatList(each);
    }
    case 'group':
      return group;
    case 'enable':
    case 'disable':
      return status === ENABLED ? texts.adminUsers.enabled : texts.adminUsers.disabled;
  }
}

/** Quota units that the account gets. */
export function addedTo({ before, after }: ChangedUser): number {
  return before ? after.quota - before.quota : 0;
}

export function isChanged({ before, after }: ChangedUser): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
