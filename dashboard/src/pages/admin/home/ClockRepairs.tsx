import { Text } from '@mantine/core';
import { Link } from 'wouter';
import type { AuditLine } from '../../../api/adminAudit';
import { formatDate } from '../../../format/calendar';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import { userHref } from '../shared/links';
import classes from './HomePage.module.css';
import { RecentAuditLines } from './RecentAuditLines';

const words = texts.adminHome.clock;

/** Whose usage was counted in days to come because the database's clock was wrong. */
export function ClockRepairs() {
  return (
    <RecentAuditLines action="user.future_usage_moved" title={words.title} all={words.all}>
      {(line) => <Row key={line.id} {...line} />}
    </RecentAuditLines>
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
