import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useReadAccount, useSmallestWallets } from '../../../api/adminUsers';
import { type User, useUser } from '../../../api/session';
import { useStatus } from '../../../api/status';
import { useUsageReport } from '../../../api/usageReports';
import { formatUsd } from '../../../format/money';
import { Money } from '../../../shared/Money';
import { notifyFailure } from '../../../shared/notify';
import { ToneBadge } from '../../../shared/ToneBadge';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { RemedyButton } from '../../keys/remedies/RemedyButton';
import { userHref } from '../shared/links';
import { mayManage } from '../users/permissions';
import { type UserDialog, UserDialogs } from '../users/UserDialogs';
import { Block, NoRows } from './Block';
import classes from './HomePage.module.css';
import { isEmpty, type LowWallet, lowWallets } from './lowWallets';

const words = texts.adminHome.wallets;
const ROWS = 5;

/** Users who cannot spend, or soon cannot. Only the smallest wallets are loaded. */
export function LowWallets() {
  const admin = useUser();
  const status = useStatus();
  const users = useSmallestWallets();
  const spend = useUsageReport({ scope: 'allUsers', groupBy: 'user' });
  const readAccount = useReadAccount();
  const { dialog, row, open, close } = useRowDialog<UserDialog, User>();

  const lowDays = status.data?.low_wallet_days ?? 0;

  const topUp = async (id: number) => open('wallet', await readAccount(id));

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
                  remedy={
                    mayManage(admin, wallet.user) && (
                      <RemedyButton
                        label={texts.usage.remedies.topUp}
                        name={wallet.user.username}
                        onClick={() => topUp(wallet.user.id).catch(notifyFailure)}
                      />
                    )
                  }
                />
              ))}
            </ul>
          )
        }
      </Block>
      {row && <UserDialogs key={row.id} dialog={dialog} user={row} onClose={close} />}
    </>
  );
}

function WalletRow({ user, days, perDay, remedy }: LowWallet & { remedy: ReactNode }) {
  const empty = isEmpty(user);
  return (
    <li className={classes.withRemedy}>
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
      {remedy}
    </li>
  );
}
