import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { type AuditLine, useAuditLog } from '../../../api/adminAudit';
import { formatDate } from '../../../format/calendar';
import { listHref } from '../../../shared/listQuery';
import { RelativeTime } from '../../../shared/RelativeTime';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { userHref } from '../shared/links';
import { Block } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome.clock;
const FILTER = { action: 'user.future_usage_moved' };
const ROWS = 5;
const DAYS = 30;
const DAY_SECONDS = 86_400;

/** Whose usage was counted in days to come because the database's clock was wrong. Shown only if there is anyone. */
export function ClockRepairs() {
  const { data, error, refetch } = useAuditLog(FILTER, 0, ROWS);
  const now = useNow();
  const recent = data?.items.filter(({ at }) => at > now - DAYS * DAY_SECONDS);
  if (error === null && !recent?.length) return null;
  return (
    <Block
      title={words.title}
      href={listHref('/admin/audit', FILTER)}
      linkLabel={words.all}
      data={recent}
      error={recent ? null : error}
      onRetry={refetch}
      rows={1}
      className={classes.all}
    >
      {(lines) => (
        <ul className={classes.rows}>
          {lines.map((line) => (
            <Row key={line.id} {...line} />
          ))}
        </ul>
      )}
    </Block>
  );
}

const dayOf = (date: string | undefined) => (date === undefined ? '' : formatDate(date));

function Row({ subject_id, subject_name, details, at }: AuditLine) {
  return (
    <li>
      <Link href={userHref(subject_id ?? 0)} className={classes.row}>
        <div className={classes.words}>
          <div className={classes.name}>{subject_name}</div>
          <Text size="sm" c="dimmed">
            {words.moved(dayOf(details.from_day), dayOf(details.to_day))}
          </Text>
        </div>
        <Text size="sm" c="dimmed" className={classes.end}>
          <RelativeTime seconds={at} />
        </Text>
      </Link>
    </li>
  );
}
