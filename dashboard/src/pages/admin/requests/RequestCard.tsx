import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import type { ApiRequest, Decision } from '../../../api/adminRequests';
import { RelativeTime } from '../../../shared/RelativeTime';
import { type Tone, ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { UserLink } from '../shared/links';
import classes from './RequestsPage.module.css';
import { stateFilterOf } from './requestState';

const words = texts.adminRequests;
const tones: Record<string, Tone> = { pending: 'warn', approved: 'ok', refused: 'bad' };

interface Props {
  request: ApiRequest;
  onDecide: (decision: Decision) => void;
}

export function RequestCard({ request, onDecide }: Props) {
  const { user_id, username, state, reason, note, created_time, decided_time, decided_by_name } = request;
  return (
    <Paper component="li" p="lg">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div className={classes.who}>
            <UserLink id={user_id} name={username} fw={600} size="md" />
            <Text size="sm" c="dimmed">
              <RelativeTime label={words.requested} seconds={created_time} />
              {decided_time != null && (
                <>
                  {' · '}
                  <RelativeTime label={words.answered} seconds={decided_time} />
                  {decided_by_name && ` ${words.by(decided_by_name)}`}
                </>
              )}
            </Text>
          </div>
          <ToneBadge tone={tones[state] ?? 'off'}>{words.states[stateFilterOf(state)]}</ToneBadge>
        </Group>
        <Text className={classes.prose} c={reason ? undefined : 'dimmed'}>
          {reason || words.noReason}
        </Text>
        {note && (
          <div className={classes.answer}>
            <Text size="sm" c="dimmed">
              {words.note}
            </Text>
            <Text className={classes.prose}>{note}</Text>
          </div>
        )}
        {state === 'pending' && (
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={() => onDecide('refuse')}>
              {words.refuse}
            </Button>
            <Button onClick={() => onDecide('approve')}>{words.approve}</Button>
          </Group>
        )}
      </Stack>
    </Paper>
  );
}
