import { Table } from '@mantine/core';
import type { ImportReport } from '../../../api/adminImports';
import { formatInteger } from '../../../format/locale';
import { useScrollRegion } from '../../../shared/useScrollRegion';
import { texts } from '../../../texts';
import classes from './ImportsPage.module.css';

const words = texts.adminImports.counts;
const ROWS = ['accounts', 'keys', 'access_tokens'] as const;

/** Accounts, keys and access tokens: how many there were, and what became of them. */
export function CountsTable({ report }: { report: ImportReport }) {
  const scrollRegion = useScrollRegion(words.title);
  return (
    <div {...scrollRegion}>
      <Table aria-label={words.title} verticalSpacing={8} className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {[words.found, words.imported, words.present, words.leftOut].map((header) => (
              <Table.Th key={header} scope="col" ta="right">
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ROWS.map((name) => {
            const { found, imported, present, left_out } = report[name];
            return (
              <Table.Tr key={name}>
                <Table.Th scope="row">{words.rows[name]}</Table.Th>
                <Table.Td ta="right">{formatInteger(found)}</Table.Td>
                <Table.Td ta="right">{formatInteger(imported)}</Table.Td>
                <Table.Td ta="right">{formatInteger(present)}</Table.Td>
                <Table.Td ta="right">{formatInteger(left_out)}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}
