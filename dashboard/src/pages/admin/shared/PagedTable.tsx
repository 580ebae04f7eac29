import type { DataProps } from '../../../shared/DataTable';
import { DataTable } from '../../../shared/DataTable';
import { Paged, type PagedProps } from './Paged';

type Props<Row> = PagedProps<Row> & Omit<DataProps<Row>, 'rows'>;

export function PagedTable<Row>({ label, columns, rowKey, rowHref, ...paged }: Props<Row>) {
  return (
    <Paged {...paged}>
      {(rows) => (
        <DataTable
          label={label}
          columns={columns}
          rowKey={rowKey}
          rowHref={rowHref}
          rows={rows}
          empty={null}
        />
      )}
    </Paged>
  );
}
