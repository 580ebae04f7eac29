import { Paper, Skeleton, Table, VisuallyHidden } from '@mantine/core';
import { texts } from '../texts';
import type { DataProps } from './DataTable';
import classes from './DataTable.module.css';
import { useScrollRegion } from './useScrollRegion';

const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

export function DataGrid<Row>({ label, columns, rows, rowKey }: DataProps<Row>) {
  const scrollRegion = useScrollRegion(label);
  return (
    <Paper p={0} {...scrollRegion}>
      <Table miw={640} aria-label={label} aria-busy={!rows} highlightOnHover className={classes.table}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} scope="col" ta={column.align} w={column.width}>
                {column.header ?? <VisuallyHidden>{texts.common.actions}</VisuallyHidden>}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows
            ? rows.map((row) => (
                <Table.Tr key={rowKey(row)}>
                  {columns.map((column) => (
                    <Table.Td key={column.key} ta={column.align}>
                      {column.cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : SKELETONS.map((skeleton) => (
                <Table.Tr key={skeleton}>
                  {columns.map((column) => (
                    <Table.Td key={column.key}>
                      <Skeleton h={20} my={6} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
