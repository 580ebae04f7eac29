import { DataTable, type TableProps } from '../../../shared/DataTable';
import { Paged, type PagedProps } from './Paged';

type Props<Row> = PagedProps<Row> & Omit<TableProps<Row>, 'rows' | 'empty'>;

export function PagedTable<Row>({ query, page, onPage, sizes, empty, ...table }: Props<Row>) {
  return (
    <Paged query={query} page={page} onPage={onPage} sizes={sizes} empty={empty}>
      {(rows) => <DataTable {...table} rows={rows} empty={null} />}
    </Paged>
  );
}
