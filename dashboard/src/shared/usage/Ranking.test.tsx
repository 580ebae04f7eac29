// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RankingReport, ReportRow } from '../../api/usageReports';
import { Comparison } from './Comparison';
import { Ranking } from './Ranking';
import type { useRanking } from './useRanking';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
beforeEach(() => {
  // Wide enough for a table.
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(2000);
});
afterEach(() => act(() => root.render(null)));

const used = (quota: number) => ({
  quota,
  usd: quota / 500_000,
  requests: 1,
  prompt_tokens: 0,
  completion_tokens: 0,
});

const compared = (quota: number, before: number, fields: Partial<ReportRow> = {}): ReportRow => ({
  ...used(quota),
  before: used(before),
  change: used(quota - before),
  ...fields,
});

function reportOf(rows: ReportRow[], fields: Partial<RankingReport> = {}): RankingReport {
  const sum = (part: (row: ReportRow) => number) => rows.reduce((all, row) => all + part(row), 0);
  const total = compared(
    sum(({ quota }) => quota),
    sum(({ before }) => before?.quota ?? 0),
  );
  const days = { from: '2026-11-01', to: '2026-11-28', time_zone: 'UTC', group_by: ['model'] };
  return {
    ...days,
    split: 'model',
    rows,
    total,
    compare_from: '2026-10-01',
    compare_to: '2026-10-28',
    ...fields,
  };
}

async function show(data: RankingReport, { order = 'spend', page = 0, setPage = () => {} } = {}) {
  const range = { start: data.from, end: data.to };
  const wanted = { range, split: data.split, compare: range, byChange: order === 'change' };
  const refetch = () => {};
  const ranking = { data, error: null, refetch, wanted, order, setOrder: refetch, page, setPage };
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <Ranking
          ranking={ranking as unknown as ReturnType<typeof useRanking>}
          name={({ model }) => model}
          hrefOf={({ model }) => (model ? `/requests?model=${model}` : undefined)}
        />
      </MantineProvider>,
    ),
  );
  const cells = [...container.querySelectorAll('tr')].map((row) =>
    [...row.querySelectorAll('th, td')].map(({ textContent }) => textContent),
  );
  return { cells, title: container.querySelector('h2')?.textContent };
}

it('says of each row what it was before and by how much that is more or less', async () => {
  const rows = [
    compared(1_000_000, 500_000, { model: 'o3' }),
    compared(500_000, 0, { model: 'new' }),
    compared(0, 250_000, { model: 'left' }),
    compared(500_000, 500_000, { model: 'same' }),
  ];
  const { cells, title } = await show(reportOf(rows), { order: 'change' });
  expect(title).toBe('Models by change');
  expect(cells.map((row) => row.toSpliced(2, 1).slice(0, 5))).toEqual([
    ['Rank', 'Model', 'Spent', 'Before', 'Change'],
    ['1', 'o3', '$2.00', '$1.00', '+$1.00+100%'],
    ['2', 'new', '$1.00', '$0.00', '+$1.00New'],
    ['3', 'left', '$0.00', '$0.50', '-$0.50-100%'],
    ['4', 'same', '$1.00', '$1.00', '$0.00'],
  ]);
});

it('has a bar that opens what it is made of, if something can be opened', async () => {
  await show(reportOf([compared(3, 1, { model: 'o3' }), compared(1, 1, { model: '' })]));
  const links = [...container.querySelectorAll('tbody a')];
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/requests?model=o3']);
  expect(links[0]?.querySelector('[role="progressbar"]')?.getAttribute('aria-label')).toBe(
    '75% of the spend',
  );
});

it('says that there was too much to compare', async () => {
  const rows = [{ ...used(500_000), model: 'o3' }];
  const { cells } = await show(reportOf(rows, { compare_from: undefined, compare_to: undefined }));
  expect(container.textContent).toContain('Too much to compare.');
  expect(cells[0]).toEqual(['Rank', 'Model', 'Share', 'Spent', 'Requests', 'Tokens']);
});

it('goes on from page to page', async () => {
  const setPage = vi.fn();
  const page = { page: 2, page_size: 20, total_rows: 41 };
  const { cells } = await show(reportOf([compared(1, 1, { model: 'o3' })], page), { page: 1, setPage });
  expect(cells[1]?.slice(0, 2)).toEqual(['21', 'o3']);
  expect(container.textContent).toContain('21–40 of 41');
  await act(() => container.querySelector<HTMLElement>('[aria-label="Next page"]')?.click());
  expect(setPage).toHaveBeenCalledWith(2);
});

it.each([
  [compared(3_000_000, 2_500_000), '2026-11-29', '+$1.00 · +20% against Oct 1 – 28'],
  [compared(3_000_000, 2_500_000), '2026-11-28', '+$1.00 · +20% against Oct 1 – 28 · today is not over yet'],
  [compared(1, 0), '2026-11-29', 'Compared with Oct 1 – 28, when nothing was spent'],
  [used(1), '2026-11-29', ''],
])('the total of %j, on %s: "%s"', async (total, today, text) => {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <Comparison report={reportOf([], { total })} isOld={false} today={today} />
      </MantineProvider>,
    ),
  );
  expect(container.querySelector('p')?.textContent.replace(/\s/g, ' ') ?? '').toBe(text);
});
