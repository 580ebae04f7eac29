// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useRequestsById } from '../../api/requestHistory';
import { limits } from '../../api/serverLimits';
import { UserContext } from '../../api/session';
import { makeRequest } from '../../test/makeRequest';
import { makeUser } from '../../test/makeUser';
import { useFoundRequests } from './useFound';

vi.mock('../../api/requestHistory');
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const root = createRoot(document.body.appendChild(document.createElement('div')));
beforeEach(() => {
  vi.mocked(useRequestsById, { partial: true }).mockReturnValue({ data: undefined, isFetching: false });
});
afterEach(() => act(() => root.render(null)));

let labels: string[] = [];

function Search({ query }: { query: string }) {
  labels = useFoundRequests(query).items.map(({ label }) => label);
  return null;
}

/** The labels of what was found, and the IDs that were sent. */
async function search(query: string, user = makeUser({ token_api_enabled: true })) {
  vi.mocked(useRequestsById).mockClear();
  await act(() =>
    root.render(
      <UserContext value={user}>
        <Search key={query} query={query} />
      </UserContext>,
    ),
  );
  const sent = vi.mocked(useRequestsById).mock.calls.flatMap(([, id]) => id ?? []);
  return { labels, sent: [...new Set(sent)] };
}

it('a request is found by its ID', async () => {
  const request_id = 'chatcmpl-7f';
  const page = { items: [makeRequest({ request_id })] };
  vi.mocked(useRequestsById, { partial: true }).mockReturnValue({ data: page, isFetching: false });
  expect(await search(` ${request_id} `)).toEqual({ labels: [request_id], sent: [request_id] });
});

it('an ID that was not found can be searched for on its page', async () => {
  expect((await search('chatcmpl-7f')).labels).toEqual(['Find the request “chatcmpl-7f”']);
});

it('a short text is not sent', async () => {
  expect(await search('chat-7')).toEqual({ labels: ['Find the request “chat-7”'], sent: [] });
});

it.each([
  '',
  'production',
  'Nightly evaluation 2026',
  'sk-ab12cdef',
  'Zk3'.repeat(16),
  '7'.repeat(limits.request_id_characters + 1),
])('%j is no ID', async (text) => {
  expect(await search(text)).toEqual({ labels: [], sent: [] });
});

it('nothing is sent for users without keys', async () => {
  const user = makeUser({ token_api_enabled: false });
  expect(await search('chatcmpl-7f', user)).toEqual({ labels: [], sent: [] });
});
