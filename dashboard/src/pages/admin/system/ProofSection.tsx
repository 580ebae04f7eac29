import { Paper, Table, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { formatInteger } from '../../../format/locale';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.proof;

/** What the servers found when they compared the rows of the ledger with each other. */
export function ProofSection({ proof: { ended_time, invariants } }: { proof: System['proof'] }) {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="xs">
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {words.description}
      </Text>
      <Text size="sm" mb="md">
        <RelativeTime label={words.ended} seconds={ended_time} never={words.notYet} />
      </Text>
      <Table aria-label={words.table} verticalSpacing={8} className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{words.invariant}</Table.Th>
            <Table.Th scope="col" ta="right">
              {words.violations}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invariants.map(({ name, violations }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">
                {name}
                <Text size="xs" c="dimmed">
                  {textOf(words.meanings, name)}
                </Text>
              </Table.Th>
              <Table.Td ta="right">
                <Text span inherit fw={violations > 0 ? 650 : undefined} c={violations > 0 ? BAD : undefined}>
                  {formatInteger(violations)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

const BAD = 'var(--km-bad)';
