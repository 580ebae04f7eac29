// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import type { PastRequest } from '../../api/requestHistory';
import { formatSecond } from '../../format/time';
import { makeRefusal, makeRequest } from '../../test/makeRequest';
import { RequestTable } from './RequestTable';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

interface Options {
  scope?: 'own' | 'allUsers';
  isOfOneKey?: boolean;
  error?: Error;
}

async function show(rows: PastRequest[] | undefined, { scope = 'own', isOfOneKey, error }: Options = {}) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <RequestTable
          label="Requests"
          scope={scope}
          isOfOneKey={isOfOneKey}
          rows={rows}
          hrefOf={(id) => `/requests?id=${id}`}
          error={error ?? null}
          onRetry={() => {}}
          empty="None"
        />
      </MantineProvider>,
    ),
  );
  return [...container.querySelectorAll('tbody tr')].map((row) =>
    [...row.querySelectorAll('td')].map(({ textContent }) => textContent ?? ''),
  );
}

it('a row says what became of a request, when, and what it cost to the last digit', async () => {
  const now = Math.floor(Date.now() / 1000);
  const [cells = []] = await show([makeRequest({ at: now, quota: 1 })]);
  expect([cells[0], ...cells.slice(2)]).toEqual([
    'Charged',
    'Crawler',
    'gpt-5',
    '1,200\u00a0in, 34\u00a0out',
    '$0.000002',
  ]);
  expect(cells[1]).toContain(formatSecond(now, now));
  expect(container.querySelector('a')?.getAttribute('href')).toBe('/requests?id=c7');
});

it('a refusal has its reason where others have tokens and cost', async () => {
  const limit = { period: 'day', limit: 250_000, used: 200_000 };
  const refusal = makeRefusal({ reason: 'token_period_exceeded', ...limit });
  const [cells = []] = await show([makeRequest({ refusal })]);
  expect(cells.slice(3)).toEqual(['gpt-5', 'Daily limit of the key reached · $0.40 of $0.50 used']);
  expect(container.querySelector('td[colspan="2"]')).not.toBeNull();
});

it('a refusal that is fixed says so first', async () => {
  const [cells = []] = await show([makeRequest({ refusal: makeRefusal({ cured: { at: null } }) })]);
  expect(cells.at(-1)).toBe('Passes now · Model not allowed');
});

it('administrators see the owner, and the page of a key does not repeat it', async () => {
  expect((await show([makeRequest()], { scope: 'allUsers' }))[0]?.[2]).toBe('Crawler · ada');
  expect((await show([makeRequest()], { isOfOneKey: true }))[0]?.[2]).toBe('gpt-5');
  const unknown = makeRequest({ token_id: null, refusal: makeRefusal({ reason: 'invalid_key' }) });
  expect((await show([unknown]))[0]?.[2]).toBe('Unknown key');
});

it('without rows it says so, and why if they did not load', async () => {
  await show([]);
  expect(container.textContent).toMatch(/None$/);
  await show(undefined, { error: new Error('lost') });
  expect(container.querySelector('[role="alert"]')).not.toBeNull();
  expect(await show([makeRequest()], { error: new Error('lost') })).toHaveLength(1);
});
