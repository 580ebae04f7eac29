import { Paper, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { formatList } from '../../../format/list';
import { formatInteger } from '../../../format/locale';
import { formatBytes } from '../../../format/measure';
import { Fact, Facts } from '../../../shared/Facts';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';

const words = texts.adminSystem.database;

export function DatabaseSection({ system: { database } }: { system: System }) {
  const { synchronous_standbys: synchronous, other_standbys: others } = database;
  const standbys = [
    synchronous > 0 ? words.synchronous(synchronous) : '',
    others > 0 ? words.others(others) : '',
  ].filter(Boolean);
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="md">
        {words.title}
      </Title>
      <Facts>
        <Fact name={words.version}>{database.version}</Fact>
        <Fact name={words.writes}>
          <ToneBadge tone={database.is_writable ? 'ok' : 'bad'}>
            {database.is_writable ? words.writable : words.readOnly}
          </ToneBadge>
        </Fact>
        <Fact name={words.size}>{formatBytes(database.bytes)}</Fact>
        <Fact name={words.records}>{formatBytes(database.idempotency_records_bytes)}</Fact>
        <Fact name={words.reservations}>{formatInteger(database.reservations_open)}</Fact>
        <Fact name={words.partitions}>{words.partitionsAhead(database.partitions_ahead_days)}</Fact>
        <Fact name={words.standbys}>
          {standbys.length > 0 ? formatList(standbys) : words.noStandby}
          {synchronous === 0 && others > 0 && <Hint>{words.standbysHint}</Hint>}
        </Fact>
        <Fact name={words.archiver}>
          {database.archiver_fails ? (
            <ToneBadge tone="bad">{words.archiverFails}</ToneBadge>
          ) : (
            words.archiverWorks
          )}
          <Hint>{words.archiverFailures(database.archiver_failures)}</Hint>
        </Fact>
      </Facts>
    </Paper>
  );
}

function Hint({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
