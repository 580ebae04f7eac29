import { Group, Text } from '@mantine/core';
import { IconServer2 } from '@tabler/icons-react';
import type { ServerOfSystem, System } from '../../../api/adminSystem';
import { formatDuration } from '../../../format/time';
import { type Column, DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { Name } from '../../../shared/Name';
import { ToneBadge } from '../../../shared/ToneBadge';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { SectionHeader } from '../shared/SectionHeader';
import { serversOf } from './servers';

const words = texts.adminSystem.servers;

/** The servers of the last hour. */
export function ServersSection({ system }: { system: System }) {
  return (
    <section>
      <SectionHeader title={words.title} />
      <DataTable
        label={words.title}
        columns={columnsOf(system)}
        rows={serversOf(system)}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconServer2} title={words.empty} />}
      />
    </section>
  );
}

function columnsOf({ time, server }: System): Column<ServerOfSystem>[] {
  return [
    {
      key: 'name',
      header: words.columns.name,
      place: 'title',
      cell: ({ id, name }) => (
        <Group gap="xs">
          <Text fw={600} size="sm">
            <Name>{name}</Name>
          </Text>
          {id === server.id && <ToneBadge tone="info">{words.answers}</ToneBadge>}
        </Group>
      ),
    },
    { key: 'version', header: words.columns.version, cell: ({ version }) => version },
    {
      key: 'migration',
      header: words.columns.migration,
      align: 'right',
      cell: ({ newest_migration }) => newest_migration,
    },
    {
      key: 'state',
      header: words.columns.state,
      place: 'corner',
      cell: ({ running, seen_time }) => (
        <ToneBadge tone={running ? 'ok' : 'off'}>
          {running ? words.running : words.notSeen(formatDuration(Math.max(0, time - seen_time)))}
        </ToneBadge>
      ),
    },
    {
      key: 'started',
      header: words.columns.started,
      cell: ({ started_time }) => <When seconds={started_time} />,
    },
  ];
}
