import { isSwitchedOn } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';
import type { Column } from './DataTable';
import { DisabledBy } from './DisabledBy';
import { QuotaBar } from './QuotaBar';
import { StatusBadge } from './StatusBadge';

export function statusColumn(header: string): Column<Token> {
  return {
    key: 'status',
    header,
    place: 'corner',
    cell: (token) => (
      <>
        <StatusBadge status={token.status} />
        <DisabledBy who={isSwitchedOn(token) ? undefined : token.disabled_by} />
      </>
    ),
  };
}

export function quotaColumn(header: string): Column<Token> {
  return {
    key: 'quota',
    header,
    width: 210,
    cell: (token) => (
      <QuotaBar used={token.used_quota} remain={token.remain_quota} unlimited={token.unlimited_quota} />
    ),
  };
}
