import { Paper } from '@mantine/core';
import { DataTable, type TableProps } from './DataTable';
import { FailureState } from './FailureState';

interface Props<Row> extends TableProps<Row> {
  /** Why the rows did not load, if they did not. Older rows are shown nevertheless. */
  error: Error | null;
  onRetry: () => void;
}

/** A table, or why its rows did not load. */
export function LoadedTable<Row>({ error, onRetry, ...table }: Props<Row>) {
  if (!error || table.rows) return <DataTable {...table} />;
  return (
    <Paper>
      <FailureState error={error} onRetry={onRetry} />
    </Paper>
  );
}
