// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { useChangeMany } from './manyTokens';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const root = createRoot(document.body.appendChild(document.createElement('div')));
const client = new QueryClient({ defaultOptions: { mutations: { retry: false } } });
let change: ReturnType<typeof useChangeMany>;

afterEach(() => act(() => root.render(null)));

function Dialog() {
  change = useChangeMany('any');
  return null;
}

/** Shows the dialog, and answers its calls with each of these. Returns what is sent. */
async function sentTo(...answers: Response[]) {
  const sent: { after?: number; key: string | null }[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const { after } = (await request.json()) as { after?: number };
    sent.push({ after, key: request.headers.get('Idempotency-Key') });
    const answer = answers.shift();
    if (!answer) throw new Error('asked too often');
    return answer;
  });
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <Dialog />
      </QueryClientProvider>,
    ),
  );
  return sent;
}

const part = (changed: number, next: number | null) =>
  Response.json({ success: true, message: '', data: { changed, faults: [], next } });
const busy = () => Response.json({ success: false, message: 'busy', error: 'server_busy' }, { status: 503 });
const addQuota = (add_quota: number) =>
  act(() =>
    change.mutateAsync({ chosen: { filter: {}, total: 5 }, set: { add_quota } }).catch(() => undefined),
  );

it('goes on where it failed when the same change is sent again, also from a dialog opened again', async () => {
  const sent = await sentTo(part(3, 7), busy(), part(2, null));
  await addQuota(500);
  await act(async () => change.reset());
  const outcome = await addQuota(500);
  expect(outcome).toMatchObject({ changed: 5, isStopped: false });
  expect(sent.map(({ after }) => after)).toEqual([undefined, 7, 7]);
  expect(sent[2]?.key).toBe(sent[1]?.key);
});

it('begins again with another change, and with the same after it was done', async () => {
  const sent = await sentTo(part(3, 7), busy(), part(5, null), part(5, null));
  for (const amount of [500, 600, 600]) await addQuota(amount);
  expect(sent.map(({ after }) => after)).toEqual([undefined, 7, undefined, undefined]);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(4);
});
