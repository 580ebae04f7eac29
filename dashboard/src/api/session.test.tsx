// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeUser } from '../test/makeUser';
import { texts } from '../texts';
import { sessionKey, useSignIn, useSignInAgain } from './session';
import { statusQuery } from './status';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const ANA = makeUser({ id: 7 });
const { insecure, blocked } = texts.signIn.noCookie;
const root = createRoot(document.body.appendChild(document.createElement('div')));
const client = new QueryClient({ defaultOptions: { mutations: { retry: false } } });
let signIn: ReturnType<typeof useSignIn>;

beforeEach(() => client.clear());
afterEach(() => act(() => root.render(null)));

function openOver(protocol: 'http' | 'https') {
  (window as unknown as { happyDOM: { setURL: (url: string) => void } }).happyDOM.setURL(
    `${protocol}://keys.example.org/sign-in`,
  );
}

/** Signs in, where `/api/user/self` answers this. */
async function signInWith(self: () => Response, hook: () => typeof signIn = useSignIn) {
  vi.stubGlobal('fetch', async (request: Request) => {
    const path = new URL(request.url).pathname;
    return path === '/api/user/login' ? Response.json({ success: true, message: '', data: ANA }) : self();
  });
  function Page() {
    signIn = hook();
    return null;
  }
  await act(async () =>
    root.render(
      <QueryClientProvider client={client}>
        <Page />
      </QueryClientProvider>,
    ),
  );
  await act(async () => signIn.mutateAsync({ username: 'ana', password: 'p' }).catch(() => {}));
  await act(() => vi.waitUntil(() => signIn.isError || signIn.isSuccess));
}

const refused = () => Response.json({ success: false, error: 'not_signed_in' }, { status: 401 });

it.each([
  ['the page', useSignIn],
  ['the dialog', useSignInAgain],
])('says in %s that the browser did not keep the cookie, and how to go on', async (_, hook) => {
  openOver('http');
  await signInWith(refused, hook as typeof useSignIn);
  expect(signIn.error?.message).toBe(insecure);
  expect(client.getQueryData(sessionKey)).toBeUndefined();
});

it('says over https that cookies are blocked', async () => {
  openOver('https');
  await signInWith(refused);
  expect(signIn.error?.message).toBe(blocked);
});

it('finds a cookie of another session', async () => {
  openOver('http');
  await signInWith(() => Response.json({ success: true, message: '', data: { ...ANA, id: 8 } }));
  expect(signIn.error?.message).toBe(insecure);
});

it('drops what the last user saw, and keeps what is the same for all', async () => {
  const statusKey: readonly unknown[] = statusQuery.queryKey;
  client.setQueryData(statusKey, 'status');
  client.setQueryData(['tokens'], 'keys of somebody else');
  await signInWith(() => Response.json({ success: true, message: '', data: ANA }));
  expect(client.getQueryData(statusKey)).toBe('status');
  expect(client.getQueryData(['tokens'])).toBeUndefined();
});

it.each([
  ['the cookie was kept', () => Response.json({ success: true, message: '', data: ANA })],
  ['the next request fails for another reason', () => Response.json({ success: false }, { status: 503 })],
])('signs in if %s', async (_, self) => {
  await signInWith(self);
  expect(signIn.error).toBeNull();
  expect(client.getQueryData(sessionKey)).toEqual(ANA);
});
