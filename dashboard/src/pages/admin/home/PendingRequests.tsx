import { Button, Group, Text } from '@mantine/core';
import { type ApiRequest, type Decision, useRequests } from '../../../api/adminRequests';
import { RelativeTime } from '../../../shared/RelativeTime';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { DecisionDialog } from '../requests/DecisionDialog';
import { UserLink } from '../shared/links';
import { Block, NoRows } from './Block';
import classes from './HomePage.module.css';

const words = texts.adminHome.requests;
const { approve, refuse, noReason } = texts.adminRequests;
const ROWS = 3;

/** Requests for API access that wait, to answer on the spot. */
export function PendingRequests() {
  const { data, error, refetch } = useRequests('pending', 0);
  const { dialog, row, open, close } = useRowDialog<Decision, ApiRequest>();
  return (
    <>
      <Block
        title={words.title}
        href="/admin/requests"
        linkLabel={words.all}
        data={data}
        error={error}
        onRetry={refetch}
        rows={ROWS}
        className={classes.half}
      >
        {({ items, total }) =>
          items.length === 0 ? (
            <NoRows>{words.empty}</NoRows>
          ) : (
            <>
              <ul className={classes.rows}>
                {items.slice(0, ROWS).map((request) => (
                  <RequestRow key={request.id} request={request} onDecide={(what) => open(what, request)} />
                ))}
              </ul>
              {total > ROWS && (
                <Text size="sm" c="dimmed" mt="md">
                  {words.more(total - ROWS)}
                </Text>
              )}
            </>
          )
        }
      </Block>
      {row && <DecisionDialog key={row.id} decision={dialog} request={row} onClose={close} />}
    </>
  );
}

interface RowProps {
  request: ApiRequest;
  onDecide: (decision: Decision) => void;
}

function RequestRow({ request: { user_id, username, reason, created_time }, onDecide }: RowProps) {
  return (
    <li className={`${classes.row} ${classes.request}`}>
      <div className={classes.words}>
        <Group gap="xs">
          <UserLink id={user_id} name={username} fw={600} size="md" />
          <Text size="sm" c="dimmed">
            <RelativeTime seconds={created_time} />
          </Text>
        </Group>
        <Text size="sm" c="dimmed" className={classes.reason}>
          {reason || noReason}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap" className={classes.answers}>
        <Button
          size="xs"
          variant="default"
          aria-label={words.refuse(username)}
          onClick={() => onDecide('refuse')}
        >
          {refuse}
        </Button>
        <Button size="xs" aria-label={words.answer(username)} onClick={() => onDecide('approve')}>
          {approve}
        </Button>
      </Group>
    </li>
  );
}
