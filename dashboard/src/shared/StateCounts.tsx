import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { formatInteger } from '../format/locale';
import { texts } from '../texts';
import { StateName } from './StateBadge';
import classes from './StateCounts.module.css';
import { shownStates } from './stateCounts';

interface Props {
  /** The list of the keys. */
  href: string;
  /** The number of keys by state. Absent while loading. */
  counts: Record<string, number> | undefined;
}

/** The number of keys by state, with links to the filtered list. */
export function StateCounts({ href, counts }: Props) {
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <ul className={classes.states}>
      {shownStates(counts).map((state) => (
        <li key={state}>
          <Link href={`${href}?state=${state}`} className={classes.state}>
            <StateName state={state} />
            <Count count={counts && (counts[state] ?? 0)} />
          </Link>
        </li>
      ))}
      <li>
        <Link href={href} className={classes.state} data-all>
          {texts.overview.keys.all}
          <Count count={total} />
        </Link>
      </li>
    </ul>
  );
}

function Count({ count }: { count: number | undefined }) {
  if (count === undefined) return <Skeleton h={18} w={24} />;
  return <span className={classes.count}>{formatInteger(count)}</span>;
}
