import { Text } from '@mantine/core';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import classes from './HomePage.module.css';
import { RecentAuditLines } from './RecentAuditLines';

const words = texts.adminHome.lostAnswers;

/** What servers had answered and the database does not know any more. */
export function LostAnswers() {
  return (
    <RecentAuditLines action="database.answers_lost" title={words.title} all={words.all}>
      {({ id, at, details }) => (
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
      )}
    </RecentAuditLines>
  );
}
