import { Paper, Table, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import { jobName } from './jobs';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.jobs;

/** When each job last succeeded on the server that answers. */
export function JobsSection({ system: { server, jobs } }: { system: System }) {
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="xs">
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="md" className={classes.sentence}>
        {words.description(server.name)}
      </Text>
      <Table aria-label={words.title} verticalSpacing={8} className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{words.job}</Table.Th>
            <Table.Th scope="col" ta="right">
              {words.last}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map(({ name, last_success_time }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{jobName(name)}</Table.Th>
              <Table.Td ta="right">
                <RelativeTime seconds={last_success_time} never={words.notYet} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
