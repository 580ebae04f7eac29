import { Paper, Skeleton, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { Overview } from '../../api/overview';
import { formatInteger } from '../../format/locale';
import { StatusBadge } from '../../shared/StatusBadge';
import { texts } from '../../texts';
import classes from './KeysCard.module.css';
import page from './OverviewPage.module.css';

const words = texts.overview.keys;

/** The number of keys by status, with links to the filtered list. */
export function KeysCard({ counts }: { counts: Overview['tokens'] | undefined }) {
  const states = [
    { status: 1, count: counts?.enabled },
    { status: 2, count: counts?.disabled },
    { status: 3, count: counts?.expired },
    { status: 4, count: counts?.exhausted },
  ];
  return (
    <Paper component="section" p="lg" className={`${page.keys} ${classes.card}`} aria-busy={!counts}>
      <Title order={2} mb="xs" lh="36px">
        {words.title}
      </Title>
      <ul className={classes.states}>
        {states.map(({ status, count }) => (
          <li key={status}>
            <Link href={`/keys?status=${status}`} className={classes.state}>
              <StatusBadge status={status} />
              <Count count={count} />
            </Link>
          </li>
        ))}
        <li>
          <Link href="/keys" className={classes.state} data-all>
            {words.all}
            <Count count={counts?.total} />
          </Link>
        </li>
      </ul>
    </Paper>
  );
}

function Count({ count }: { count: number | undefined }) {
  if (count === undefined) return <Skeleton h={18} w={24} />;
  return <span className={classes.count}>{formatInteger(count)}</span>;
}
