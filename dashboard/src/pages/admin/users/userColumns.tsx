import { Stack, Text } from '@mantine/core';
import type { User } from '../../../api/session';
import { formatUsd } from '../../../format/money';
import { roleName } from '../../../format/role';
import type { Column } from '../../../shared/DataTable';
import { PeriodBar } from '../../../shared/limits/PeriodBar';
import { limitedPeriods } from '../../../shared/limits/periodBar';
import { Money } from '../../../shared/Money';
import { Name } from '../../../shared/Name';
import { RelativeTime } from '../../../shared/RelativeTime';
import { selectColumn } from '../../../shared/selection/selectColumn';
import type { Selection } from '../../../shared/selection/useSelection';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { UserLink } from '../shared/links';
import { ENABLED } from './status';
import type { UserDialog } from './UserDialogs';
import { UserMenu } from './UserMenu';
import classes from './userColumns.module.css';
import { sortUsersBy, type UserOrder } from './userOrder';

const words = texts.adminUsers;

export function userColumns(
  onOpen: (dialog: UserDialog, user: User) => void,
  selection: Selection<User>,
  order: UserOrder,
): Column<User>[] {
  return [
    selectColumn(selection, texts.adminBulk.select, ({ username }) => username),
    {
      key: 'user',
      header: words.columns.user,
      sort: sortUsersBy(order, 'name', 'name_desc'),
      place: 'title',
      cell: (user) => <Names user={user} />,
    },
    { key: 'role', header: words.columns.role, cell: (user) => roleName(user.role) },
    {
      key: 'status',
      header: words.columns.status,
      place: 'corner',
      cell: (user) => <AccountStatus user={user} />,
    },
    {
      key: 'tokenApi',
      header: words.columns.tokenApi,
      cell: (user) => (user.token_api_enabled ? words.yes : words.no),
    },
    {
      key: 'group',
      header: words.columns.group,
      onlyIf: (users) => users.some(({ group }) => group !== users[0]?.group),
      cell: (user) => user.group,
    },
    {
      key: 'wallet',
      header: words.columns.wallet,
      sort: sortUsersBy(order, 'lowest_wallet', 'highest_wallet'),
      align: 'right',
      cell: (user) => (
        <>
          <div className={classes.line}>
            <Money units={user.quota} />
            <Text size="xs" c="dimmed" className="tabular">
              {texts.common.quota.used(formatUsd(user.used_quota))}
            </Text>
          </div>
          <AccountLimits user={user} />
        </>
      ),
    },
    {
      key: 'created',
      header: words.columns.created,
      cell: (user) => <RelativeTime seconds={user.created_time} className={classes.line} />,
    },
    {
      key: 'actions',
      place: 'corner',
      align: 'right',
      cell: (user) => <UserMenu user={user} onOpen={(dialog) => onOpen(dialog, user)} />,
    },
  ];
}

function AccountLimits({ user: { period_usage } }: { user: User }) {
  const limited = limitedPeriods(period_usage);
  if (limited.length === 0) return null;
  return (
    <Stack gap="xs" mt="xs" miw={{ base: 0, sm: 170 }}>
      {limited.map((period) => (
        <PeriodBar key={period} period={period} usage={period_usage[period]} compact />
      ))}
    </Stack>
  );
}

function Names({ user }: { user: User }) {
  return (
    <Stack gap={0} miw={130}>
      <UserLink id={user.id} name={user.username} fw={600} />
      {user.display_name && user.display_name !== user.username && (
        <Text size="xs" c="dimmed">
          <Name>{user.display_name}</Name>
        </Text>
      )}
    </Stack>
  );
}

export function AccountStatus({ user }: { user: User }) {
  if (user.status === ENABLED) return <ToneBadge tone="ok">{words.enabled}</ToneBadge>;
  return (
    <>
      <ToneBadge tone="off">{words.disabled}</ToneBadge>
      {user.disabled_by === 'root' && (
        <Text size="xs" c="dimmed" mt={2}>
          {words.disabledByRoot}
        </Text>
      )}
    </>
  );
}
