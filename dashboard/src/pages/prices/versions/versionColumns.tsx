import { Button, Group, Text } from '@mantine/core';
import type { PriceVersion } from '../../../api/adminPrices';
import type { User } from '../../../api/session';
import type { Column } from '../../../shared/DataTable';
import { ToneBadge } from '../../../shared/ToneBadge';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { UserLink } from '../../admin/shared/links';

const words = texts.prices.history;

/** `inForce` is the number of the version in force. Others can be set again. */
export function versionColumns(
  inForce: number,
  user: Pick<User, 'id' | 'username'>,
  onSetAgain: (version: PriceVersion) => void,
): Column<PriceVersion>[] {
  return [
    {
      key: 'number',
      header: words.number,
      place: 'title',
      cell: ({ number }) => (
        <Group gap="xs">
          <Text size="sm" fw={600} className="tabular">
            {number}
          </Text>
          {number === inForce && <ToneBadge tone="ok">{words.inForce}</ToneBadge>}
        </Group>
      ),
    },
    {
      key: 'when',
      header: words.when,
      width: 190,
      cell: ({ created_time }) => <When seconds={created_time} />,
    },
    {
      key: 'by',
      header: words.by,
      cell: ({ created_by }) =>
        created_by === 0 ? (
          words.settings
        ) : (
          <UserLink id={created_by} name={created_by === user.id ? user.username : undefined} />
        ),
    },
    {
      key: 'note',
      header: words.note,
      cell: ({ note }) => (
        <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
          {note}
        </Text>
      ),
    },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      cell: (version) =>
        version.number !== inForce && (
          <Button
            variant="default"
            size="xs"
            aria-label={words.setAgainLabel(String(version.number))}
            onClick={() => onSetAgain(version)}
          >
            {words.setAgain}
          </Button>
        ),
    },
  ];
}
