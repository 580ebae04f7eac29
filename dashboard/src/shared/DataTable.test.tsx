// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { texts } from '../texts';
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

it('shows a row with a cell that cannot be drawn, and tries again with the next data', async () => {
  const quiet = vi.spyOn(console, 'error').mockImplementation(() => {});
  const name: Column<{ name?: string }> = { key: 'name', header: 'Name', cell: (row) => row.name?.trim() };
  const broken: Column<{ name?: string }> = {
    ...name,
    key: 'b',
    cell: ({ name }) => (name as string).trim(),
  };
  const show = (rows: { name?: string }[]) =>
    act(() =>
      root.render(
        <MantineProvider env="test">
          <DataTable
            label="Rows"
            columns={[name, broken]}
            rows={rows}
            rowKey={(row) => rows.indexOf(row)}
            empty="None"
          />
        </MantineProvider>,
      ),
    );
  await show([{}, { name: 'beta' }]);
  expect(container.textContent).toContain(texts.common.broken);
  expect(container.textContent?.match(/beta/g)).toHaveLength(2);
  await show([{ name: 'alpha' }, { name: 'beta' }]);
  expect(container.textContent).not.toContain(texts.common.broken);
  expect(container.textContent?.match(/alpha/g)).toHaveLength(2);
  quiet.mockRestore();
});

it('leaves out a column that says the same in each row', async () => {
  expect(await textOf(['one'])).not.toContain('Kind');
  expect(await textOf(['one', 'other'])).toContain('Kind');
});

it('is a list of cards where the table needs more than its place, and tries again with other rows', async () => {
  const place = vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(900);
  const needed = vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(900);
  const isTable = () => container.querySelector('table') !== null;
  await textOf(['one']);
  expect(isTable()).toBe(true);
  needed.mockReturnValue(1000);
  await textOf(['one']);
  expect(isTable()).toBe(false);
  expect(container.querySelector('ul')?.textContent).toContain('one');
  needed.mockReturnValue(900);
  await textOf(['one', 'two']);
  expect(isTable()).toBe(false);
  await textOf(['two']);
  expect(isTable()).toBe(true);
  place.mockRestore();
  needed.mockRestore();
});

it('survives that its place becomes narrower before it is told', async () => {
  const place = vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(900);
  const needed = vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(900);
  await textOf(['one']);
  place.mockReturnValue(280);
  needed.mockReturnValue(700);
  expect(await textOf(['one'])).toContain('one');
  place.mockRestore();
  needed.mockRestore();
});
