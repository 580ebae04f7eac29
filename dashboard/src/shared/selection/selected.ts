interface Identified {
  id: number;
}

/** The selected rows by ID, also those of other pages. */
export type Selected<Row> = ReadonlyMap<number, Row>;

export function withRows<Row extends Identified>(
  selected: Selected<Row>,
  rows: Row[],
  on: boolean,
): Selected<Row> {
  const after = new Map(selected);
  for (const row of rows) {
    if (on) after.set(row.id, row);
    else after.delete(row.id);
  }
  return after;
}

/** The shown rows from the anchor to `row`, both included. Only `row` if the anchor is not shown. */
export function rangeOf<Row extends Identified>(shown: Row[], anchor: number | undefined, row: Row): Row[] {
  const from = shown.findIndex(({ id }) => id === anchor);
  const to = shown.findIndex(({ id }) => id === row.id);
  if (from < 0 || to < 0) return [row];
  return shown.slice(Math.min(from, to), Math.max(from, to) + 1);
}
