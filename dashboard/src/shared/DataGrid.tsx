import { Paper, Skeleton, Table, VisuallyHidden } from '@mantine/core';
import { texts } from '../texts';
import { Boundary } from './Boundary';
import { type Column, type DataProps, TABLE_WIDTH } from './DataTable';
import classes from './DataTable.module.css';
import { SortHeader } from './SortHeader';
import { useRowLink } from './useRowLink';
import { useScrollRegion } from './useScrollRegion';

const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

export function DataGrid<Row>({ label, columns, rows, rowKey, rowHref }: DataProps<Row>) {
  const linkTo = useRowLink();
  const scrollRegion = useScrollRegion(label);
  return (
    <Paper p={0} {...scrollRegion} className={classes.grid}>
      <Table
        miw={`${TABLE_WIDTH}rem`}
        aria-label={label}
        aria-busy={!rows}
        highlightOnHover
        className={classes.table}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th
                key={column.key}
                scope="col"
                ta={column.align}
                w={column.width}
                className={classNameOf(column)}
                aria-sort={column.sort && (column.sort.direction ?? 'none')}
              >
                {column.sort ? (
                  <SortHeader sort={column.sort}>{column.header}</SortHeader>
                ) : (
                  (column.header ?? <VisuallyHidden>{texts.common.actions}</VisuallyHidden>)
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows
            ? rows.map((row) => (
                <Table.Tr
                  key={rowKey(row)}
                  className={rowHref && classes.clickable}
                  {...linkTo(rowHref?.(row))}
                >
                  {columns.map((column) => (
                    <Table.Td key={column.key} ta={column.align} className={classNameOf(column)}>
                      <Boundary data={row} draw={column.cell} />
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

function classNameOf<Row>(column: Column<Row>): string | undefined {
  return column.header === undefined ? classes.actions : undefined;
}
