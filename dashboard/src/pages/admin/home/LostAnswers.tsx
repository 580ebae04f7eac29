import { Text } from '@mantine/core';
import { useAuditLog } from '../../../api/adminAudit';
import { listHref } from '../../../shared/listQuery';
import { RelativeTime } from '../../../shared/RelativeTime';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { Block } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome.lostAnswers;
const FILTER = { action: 'database.answers_lost' };
const ROWS = 5;
const DAY_SECONDS = 86_400;
const DAYS = 30;

/** What servers had answered and the database does not know any more. Shown only if there is anything. */
export function LostAnswers() {
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
          {lines.map(({ id, at, details }) => (
            <li key={id} className={classes.row}>
              <div className={classes.words}>
                <div className={classes.name}>{words.lost(details.lost ?? '', details.looked_up ?? '')}</div>
                <Text size="sm" c="dimmed">
                  {details.named}
                </Text>
              </div>
              <Text size="sm" c="dimmed" className={classes.end}>
                <RelativeTime seconds={at} />
              </Text>
            </li>
          ))}
        </ul>
      )}
    </Block>
  );
}
