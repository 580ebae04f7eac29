import { Button, Group, Text, Tooltip } from '@mantine/core';
import type { Session } from '../../../api/sessions';
import type { Column } from '../../../shared/DataTable';
import { RelativeTime } from '../../../shared/RelativeTime';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { deviceName } from './deviceName';

const words = texts.profile.sessions;

export function sessionName({ user_agent }: Session): string {
  return deviceName(user_agent) ?? words.unknownDevice;
}

export function sessionColumns(onEnd: (session: Session) => void): Column<Session>[] {
  return [
    {
      key: 'device',
      header: words.device,
      place: 'title',
      cell: (session) => (
        <Group gap="xs">
          <Tooltip label={session.user_agent || words.unknownDevice} multiline maw={360}>
            <Text fw={600} size="sm">
              {sessionName(session)}
            </Text>
          </Tooltip>
          {session.current && <ToneBadge tone="ok">{words.current}</ToneBadge>}
        </Group>
      ),
    },
    { key: 'ip', header: words.ip, cell: ({ ip }) => ip || words.unknown },
    {
      key: 'created',
      header: words.signedIn,
      cell: ({ created_time }) => <RelativeTime seconds={created_time} never={words.unknown} />,
    },
    {
      key: 'seen',
      header: words.lastSeen,
      cell: ({ last_seen_time }) => <RelativeTime seconds={last_seen_time} never={words.unknown} />,
    },
    {
      key: 'actions',
      align: 'right',
      place: 'actions',
      cell: (session) =>
        !session.current && (
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            aria-label={words.endOne(sessionName(session))}
            onClick={() => onEnd(session)}
          >
            {words.end}
          </Button>
        ),
    },
  ];
}
