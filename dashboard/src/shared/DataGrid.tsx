import { Paper, Skeleton, Table, VisuallyHidden } from '@mantine/core';
import { useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { texts } from '../texts';
import { Boundary } from './Boundary';
import type { DataProps } from './DataTable';
import classes from './DataTable.module.css';
import { SortHeader } from './SortHeader';
import { useRowLink } from './useRowLink';

const SKELETONS = ['a', 'b', 'c', 'd', 'e'];

/** Names are broken to this width, and not further. */
const TITLE_WIDTH = '10rem';

/** Both widths are whole pixels. */
const ROUNDING = 1;

/** More than the scroll bar of the page, which may come or go when a table becomes cards. */
const SCROLL_BAR = 24;

interface Props<Row> extends DataProps<Row> {
  /** The table has too little place. It fits where there are so many pixels, or is tried again there. */
  onTooWide: (needed: number) => void;
}

export function DataGrid<Row>({ label, columns, rows, rowKey, rowHref, onTooWide }: Props<Row>) {
  const linkTo = useRowLink();
  return (
    <Paper p={0} className={classes.grid}>
      <Table
        ref={useOverflow(onTooWide)}
        aria-label={label}
        aria-busy={!rows}
        highlightOnHover
        horizontalSpacing="xs"
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
                miw={column.place === 'title' ? TITLE_WIDTH : undefined}
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
                    <Table.Td key={column.key} ta={column.align}>
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

/** Reports how much place the table with the returned ref needs, if it is wider than what is around it. */
function useOverflow(onTooWide: (needed: number) => void) {
  const ref = useRef<HTMLTableElement>(null);

  // After every render, before anybody sees what does not fit.
  useLayoutEffect(() => {
    const table = ref.current;
    const around = table?.parentElement;
    if (!table || !around) return;
    const check = () => {
      const { clientWidth: place } = around;
      if (table.offsetWidth > place + ROUNDING) onTooWide(Math.max(table.offsetWidth, place + SCROLL_BAR));
    };
    check();
    // A cell can also change on its own, and fonts load later.
    const observer = new ResizeObserver(() => flushSync(check));
    observer.observe(table);
    return () => observer.disconnect();
  });

  return ref;
}
