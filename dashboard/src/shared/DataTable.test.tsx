// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { type Column, DataTable } from './DataTable';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const columns: Column<string>[] = [
  { key: 'name', header: 'Name', cell: (row) => row },
  { key: 'kind', header: 'Kind', cell: () => 'other', onlyIf: (rows) => rows.includes('other') },
];

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

async function textOf(rows: string[]) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <DataTable label="Rows" columns={columns} rows={rows} rowKey={(row) => row} empty="None" />
      </MantineProvider>,
    ),
  );
  return container.textContent;
}

it('leaves out a column that says the same in each row', async () => {
  expect(await textOf(['one'])).not.toContain('Kind');
  expect(await textOf(['one', 'other'])).toContain('Kind');
});
