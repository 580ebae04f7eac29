import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { type LockedAccount, useLockedAccounts } from '../../../api/adminLockedAccounts';
import { RelativeTime } from '../../../shared/RelativeTime';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { userHref } from '../shared/links';
import { Block } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome.locked;
const ROWS = 5;

/** Accounts at which somebody tried too many wrong passwords. Shown only if there are any. */
export function LockedAccounts() {
  const { data, error, refetch } = useLockedAccounts();
  if (error === null && !data?.length) return null;
  return (
    <Block
      title={words.title}
      data={data}
      error={data ? null : error}
      onRetry={refetch}
      rows={1}
      className={classes.all}
    >
      {(accounts) => (
        <>
          <ul className={classes.rows}>
            {accounts.slice(0, ROWS).map((account) => (
              <AccountRow key={account.user_id} {...account} />
            ))}
          </ul>
          {accounts.length > ROWS && (
            <Text size="sm" c="dimmed" mt="md">
              {words.more(accounts.length - ROWS)}
            </Text>
          )}
        </>
      )}
    </Block>
  );
}

function AccountRow({ user_id, username, reason, last_time }: LockedAccount) {
  const isWide = reason === 'new_networks';
  return (
    <li>
      <Link href={userHref(user_id)} className={classes.row}>
        <div className={classes.words}>
          <div className={classes.name}>{username}</div>
          <Text size="sm" c="dimmed">
            {isWide ? words.newNetworks : words.network}
          </Text>
        </div>
        <Text size="sm" c="dimmed" className={classes.end}>
          <RelativeTime seconds={last_time} />
        </Text>
        <ToneBadge tone={isWide ? 'bad' : 'warn'}>
          {isWide ? words.badges.newNetworks : words.badges.network}
        </ToneBadge>
      </Link>
    </li>
  );
}
