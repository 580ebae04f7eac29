import { Group, Paper, Skeleton, Stack } from '@mantine/core';
import { Boundary } from './Boundary';
import type { Column, DataProps } from './DataTable';
import classes from './DataTable.module.css';
import { useRowLink } from './useRowLink';

const SKELETONS = ['a', 'b', 'c'];

export function DataCards<Row>({ label, columns, rows, rowKey, rowHref }: DataProps<Row>) {
  const linkTo = useRowLink();
  if (!rows) {
    return (
      <Stack gap="sm" aria-busy aria-label={label} role="group">
        {SKELETONS.map((skeleton) => (
          <Paper key={skeleton} p="md">
            <Stack gap="sm">
              <Skeleton h={20} w="50%" />
              <Skeleton h={16} />
              <Skeleton h={16} w="70%" />
            </Stack>
          </Paper>
        ))}
      </Stack>
    );
  }
  return (
    <Stack component="ul" gap="sm" aria-label={label} className={classes.cards}>
      {rows.map((row) => (
        <Paper
          component="li"
          key={rowKey(row)}
          p="md"
          className={rowHref && classes.clickable}
          {...linkTo(rowHref?.(row))}
        >
          <Card row={row} columns={columns} />
        </Paper>
      ))}
    </Stack>
  );
}

function Card<Row>({ row, columns }: { row: Row; columns: Column<Row>[] }) {
  const cells = (place: Column<Row>['place']) => columns.filter((column) => column.place === place);
  return (
    <>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        {cells('select').map((column) => (
          <div key={column.key}>
            <Boundary data={row} draw={column.cell} />
          </div>
        ))}
        <div className={classes.cardTitle}>
          {cells('title').map((column) => (
            <div key={column.key}>
              <Boundary data={row} draw={column.cell} />
            </div>
          ))}
        </div>
        {cells('corner').map((column) => (
          <div key={column.key}>
            <Boundary data={row} draw={column.cell} />
          </div>
        ))}
      </Group>
      <Lines row={row} columns={cells(undefined).filter(({ wide }) => wide)} />
      <div className={classes.cardFoot}>
        <Lines row={row} columns={cells(undefined).filter(({ wide }) => !wide)} />
        {cells('actions').map((column) => (
          <div key={column.key} className={classes.cardActions}>
            <Boundary data={row} draw={column.cell} />
          </div>
        ))}
      </div>
    </>
  );
}

function Lines<Row>({ row, columns }: { row: Row; columns: Column<Row>[] }) {
  if (columns.length === 0) return null;
  return (
    <dl className={classes.lines}>
      {columns.map((column) => (
        <div key={column.key} className={classes.line} data-wide={column.wide || undefined}>
          <dt>{column.header}</dt>
          <dd>
            <Boundary data={row} draw={column.cell} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
