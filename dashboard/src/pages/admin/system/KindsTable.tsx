import { Table } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.now.kinds;

/** Rare: only shown if there was one. */
const RARE = 'begin_grace';
const USUAL = Object.keys(words.names).filter((kind) => kind !== RARE);

interface Props {
  operations: System['recent']['operations'];
  rate: (count: number) => string;
}

/** Operations of the ledger a second, by kind. */
export function KindsTable({ operations, rate }: Props) {
  const kinds = [...new Set([...USUAL, ...Object.keys(operations)])];
  return (
    <Table aria-label={words.title} verticalSpacing={8} className={classes.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{words.kind}</Table.Th>
          <Table.Th scope="col" ta="right">
            {words.rate}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {kinds.map((kind) => (
          <Table.Tr key={kind}>
            <Table.Th scope="row">{textOf(words.names, kind) ?? kind}</Table.Th>
            <Table.Td ta="right">{rate(operations[kind] ?? 0)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
