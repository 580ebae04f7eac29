import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useUsageReport } from '../../../api/usageReports';
import { formatInteger } from '../../../format/locale';
import { Money } from '../../../shared/Money';
import { type Ranked, ranked } from '../../../shared/usage/ranked';
import { texts } from '../../../texts';
import { tokenHref, userHref } from '../shared/links';
import { Block, NoRows } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome;
const ROWS = 5;
const ALL = '/admin/usage?range=30d';

/** The users who spent most in 30 days. */
export function TopUsers() {
  const { data, error, refetch } = useUsageReport({ scope: 'allUsers', groupBy: 'user' });
  return (
    <Block
      title={words.users.title}
      href={`${ALL}&by=user`}
      linkLabel={words.users.all}
      data={data && ranked(data, ROWS)}
      error={error}
      onRetry={refetch}
      className={classes.half}
    >
      {(rows) => (
        <Rows rows={rows} empty={words.users.empty}>
          {({ user_id, username, percent }) => ({
            href: userHref(user_id ?? 0),
            name: username,
            hint: words.share(formatInteger(percent)),
          })}
        </Rows>
      )}
    </Block>
  );
}

/** The keys that spent most in 30 days. */
export function TopKeys() {
  const { data, error, refetch } = useUsageReport({ scope: 'allUsers', groupBy: 'user,token' });
  return (
    <Block
      title={words.keys.title}
      href={`${ALL}&by=token`}
      linkLabel={words.keys.all}
      data={data && ranked(data, ROWS)}
      error={error}
      onRetry={refetch}
      className={classes.half}
    >
      {(rows) => (
        <Rows rows={rows} empty={words.keys.empty}>
          {({ token_id, token_name, username }) => ({
            href: tokenHref(token_id ?? 0),
            name: token_name,
            hint: username,
          })}
        </Rows>
      )}
    </Block>
  );
}

interface RowsProps {
  rows: Ranked[];
  empty: string;
  children: (row: Ranked) => { href: string; name: ReactNode; hint: ReactNode };
}

function Rows({ rows, empty, children }: RowsProps) {
  if (rows.length === 0) return <NoRows>{empty}</NoRows>;
  return (
    <ul className={classes.rows}>
      {rows.map((row) => {
        const { href, name, hint } = children(row);
        return (
          <li key={href}>
            <Link href={href} className={classes.row}>
              <div className={classes.words}>
                <div className={classes.name}>{name}</div>
                <Text size="sm" c="dimmed">
                  {hint}
                </Text>
              </div>
              <Money units={row.quota} fw={600} className={`${classes.end} tabular`} />
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
