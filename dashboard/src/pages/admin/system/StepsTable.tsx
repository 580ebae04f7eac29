import { Table, Text } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { formatMicros } from '../../../format/measure';
import { ToneBadge } from '../../../shared/ToneBadge';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.now.steps;

interface Props {
  steps: System['recent']['steps'];
  slowest: string | null | undefined;
}

/** What a batch of operations waits for. */
export function StepsTable({ steps, slowest }: Props) {
  return (
    <Table aria-label={words.title} verticalSpacing={8} className={classes.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{words.step}</Table.Th>
          <Table.Th scope="col" ta="right">
            {words.mean}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {steps.map(({ step, mean_us }) => (
          <Table.Tr key={step}>
            <Table.Th scope="row">
              <span className={classes.step}>
                {textOf(words.names, step) ?? step}
                {step === slowest && <ToneBadge tone="info">{words.slowest}</ToneBadge>}
              </span>
              <Text size="xs" c="dimmed">
                {textOf(words.hints, step)}
              </Text>
            </Table.Th>
            <Table.Td ta="right">{formatMicros(mean_us)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
