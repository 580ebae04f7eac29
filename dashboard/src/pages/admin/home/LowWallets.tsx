import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useSmallestWallets } from '../../../api/adminUsers';
import { useUser } from '../../../api/session';
import { useStatus } from '../../../api/status';
import { useUsageReport } from '../../../api/usageReports';
import { formatUsd } from '../../../format/money';
import { Money } from '../../../shared/Money';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { userHref } from '../shared/links';
import { mayManage } from '../users/permissions';
import { Block, NoRows } from './Block';
import classes from './HomePage.module.css';
import { isEmpty, type LowWallet, lowWallets } from './lowWallets';
import { useReliefs } from './useReliefs';

const words = texts.adminHome.wallets;
const ROWS = 5;

/** Users who cannot spend, or soon cannot. Only the smallest wallets are loaded. */
export function LowWallets() {
  const admin = useUser();
  const status = useStatus();
  const users = useSmallestWallets();
  const spend = useUsageReport({ scope: 'allUsers', groupBy: 'user' });

  const { topUp, forms } = useReliefs();

  const lowDays = status.data?.low_wallet_days ?? 0;

  function retry() {
    status.refetch();
    users.refetch();
    spend.refetch();
  }

  return (
    <>
      <Block
        title={words.title}
        href="/admin/users?sort=lowest_wallet"
        linkLabel={words.all}
        data={status.data && users.data && spend.data && lowWallets(users.data, spend.data, lowDays)}
        error={users.error ?? spend.error ?? status.error}
        onRetry={retry}
        className={classes.half}
      >
        {(wallets) =>
          wallets.length === 0 ? (
            <NoRows>{words.empty(lowDays)}</NoRows>
          ) : (
            <ul className={classes.rows}>
              {wallets.slice(0, ROWS).map((wallet) => (
                <WalletRow
                  key={wallet.user.id}
                  {...wallet}
                  relief={mayManage(admin, wallet.user) && topUp(wallet.user)}
                />
              ))}
            </ul>
          )
        }
      </Block>
      {forms}
    </>
  );
}

function WalletRow({ user, days, perDay, relief }: LowWallet & { relief: ReactNode }) {
  const empty = isEmpty(user);
  return (
    <li className={classes.relieved}>
      <Link href={userHref(user.id)} className={`${classes.row} ${classes.wallet}`}>
        <div className={classes.words}>
          <div className={classes.name}>{user.username}</div>
          <Text size="sm" c="dimmed">
            {empty ? words.stopped : words.spends(formatUsd(Math.round(perDay)))}
          </Text>
        </div>
        <div className={classes.end}>
          <Money units={user.quota} fw={600} />
          {!empty && (
            <Text size="sm" c="dimmed">
              {words.lasts(days)}
            </Text>
          )}
        </div>
        {empty && <ToneBadge tone="bad">{words.emptyBadge}</ToneBadge>}
      </Link>
      {relief}
    </li>
  );
}
