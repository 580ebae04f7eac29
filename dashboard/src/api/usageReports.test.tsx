// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  comparisonCsvHref,
  isByHour,
  monthCsvHref,
  timeCsvHref,
  useRankingReport,
  useSplitReport,
} from './usageReports';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const root = createRoot(document.body.appendChild(document.createElement('div')));
const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });

beforeEach(() => client.clear());
afterEach(() => act(() => root.render(null)));

const tooLarge = () => Response.json({ success: false, error: 'range_too_large' }, { status: 400 });

/** What a hook loads, and the queries that it asked, where reports of these queries are answered so. */
async function loaded<Data>(
  hook: () => { data?: Data; isError: boolean },
  answer: (query: URLSearchParams) => Response | number,
) {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const { searchParams } = new URL(request.url);
    asked.push(decodeURIComponent(searchParams.toString()));
    const quota = answer(searchParams);
    if (quota instanceof Response) return quota;
    const total = { quota, usd: 0, requests: 0, prompt_tokens: 0, completion_tokens: 0 };
    const group_by = searchParams.get('group_by')?.split(',');
    const compare_from = searchParams.get('compare_from') ?? undefined;
    return Response.json({ success: true, message: '', data: { total, group_by, rows: [], compare_from } });
  });
  let result: ReturnType<typeof hook> | undefined;
  function Page() {
    result = hook();
    return null;
  }
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <Page />
      </QueryClientProvider>,
    ),
  );
  await act(() => vi.waitUntil(() => result?.isError || result?.data !== undefined));
  return { data: result?.data, asked };
}

const oneDay = { start: '2026-11-28', end: '2026-11-28' };
const twoDays = { start: '2026-03-28', end: '2026-03-29' };
const threeDays = { start: '2026-03-27', end: '2026-03-29' };

const split = (range: typeof oneDay) => () => useSplitReport({ range, split: 'model', count: 6 });

it.each([
  [oneDay, 'hour'],
  // Clocks change on the second day.
  [twoDays, 'hour'],
  [threeDays, 'day'],
])('a report of %j is by %s', async (range, time) => {
  const { data, asked } = await loaded(split(range), () => 5);
  expect(data?.time.group_by).toEqual([time]);
  expect(data?.both?.group_by).toEqual([time, 'model']);
  const days = `from=${range.start}&to=${range.end}`;
  expect(asked).toEqual([
    `${days}&group_by=model&p=1&page_size=6`,
    `${days}&group_by=${time}`,
    `${days}&group_by=${time},model`,
  ]);
});

const byHour = (query: URLSearchParams) => query.get('group_by')?.startsWith('hour');

it('is by day if there is too much for hours, or nothing known of them', async () => {
  const crowded = await loaded(split(oneDay), (query) => (byHour(query) ? tooLarge() : 5));
  expect(crowded.data && isByHour(crowded.data.time)).toBe(false);
  client.clear();
  const imported = await loaded(split(oneDay), (query) => (byHour(query) ? 0 : 5));
  expect(imported.data && isByHour(imported.data.time)).toBe(false);
  client.clear();
  const empty = await loaded(split(oneDay), () => 0);
  expect(empty.data && isByHour(empty.data.time)).toBe(true);
});

const compare = { start: '2026-02-27', end: '2026-02-28' };

it('a ranking is compared, in the order of the change, page by page', async () => {
  const options = { range: twoDays, split: 'group', compare, byChange: true, page: 2 } as const;
  const { asked } = await loaded(
    () => useRankingReport(options),
    () => 5,
  );
  expect(asked).toEqual([
    'from=2026-03-28&to=2026-03-29&group_by=group&compare_from=2026-02-27&compare_to=2026-02-28' +
      '&sort=change&p=3&page_size=20',
  ]);
});

it('a ranking that is too much to compare is not compared', async () => {
  const options = { range: twoDays, split: 'model', compare, byChange: true, page: 0 } as const;
  const { data, asked } = await loaded(
    () => useRankingReport(options),
    (query) => (query.has('compare_from') ? tooLarge() : 5),
  );
  expect(data?.compare_from).toBeUndefined();
  expect(asked.at(-1)).toBe('from=2026-03-28&to=2026-03-29&group_by=model&p=1&page_size=20');
});

it('reports are downloaded by time, as a comparison, and by month for a bill', () => {
  const own = { range: oneDay, split: 'token' } as const;
  const all = { ...own, scope: 'allUsers', userId: 7 } as const;
  const href = (text: string) => decodeURIComponent(text);
  const days = 'format=csv&from=2026-11-28&to=2026-11-28&group_by';
  expect(href(timeCsvHref({ ...own, time: 'hour' }))).toBe(`/api/usage?${days}=hour,token`);
  expect(href(timeCsvHref({ ...all, time: 'day' }))).toBe(
    `/api/admin/usage?${days}=day,user,token&user_id=7`,
  );
  expect(href(comparisonCsvHref({ ...own, compare, byChange: false }))).toBe(
    `/api/usage?${days}=token&compare_from=2026-02-27&compare_to=2026-02-28`,
  );
  expect(href(monthCsvHref({ range: oneDay }))).toBe(`/api/usage?${days}=month,group,model`);
  expect(href(monthCsvHref({ range: oneDay, scope: 'allUsers' }))).toBe(
    `/api/admin/usage?${days}=month,user,group,model`,
  );
});
