// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Brand } from '../../shell/Brand';
import { AuthLayout } from './AuthLayout';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
beforeEach(() => client.clear());
afterEach(() => act(() => root.render(null)));

/** Shows the layout of the sign-in page, and the header, where the server answers this status. */
async function showWith(answer: () => Response | Promise<Response>) {
  vi.stubGlobal('fetch', async () => answer());
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={client}>
          <AuthLayout title="Sign in" question="Forgot your password? Ask">
            {null}
          </AuthLayout>
          <header>
            <Brand />
          </header>
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
}

const status = (changes: object) => async () => {
  const data = { system_name: 'Keymeter', logo: '', contact: '', ...changes };
  return Response.json({ success: true, message: '', data });
};

const images = () =>
  [...container.querySelectorAll('img')].map((image) => [image.getAttribute('src'), image.alt]);

it('shows the name and the logo of the installation, and whom to ask', async () => {
  await showWith(
    status({ system_name: 'Ships & Co.', logo: '/dashboard-logo', contact: 'keys@ships.example' }),
  );
  await act(() => vi.waitUntil(() => container.querySelector('img')));
  expect(images()).toEqual([
    ['/dashboard-logo', 'Ships & Co.'],
    ['/dashboard-logo', 'Ships & Co.'],
  ]);
  expect(container.querySelector('header')?.textContent).toBe('Ships & Co.');
  expect(container.textContent).not.toContain('Keymeter');
  expect(document.title).toBe('Sign in · Ships & Co.');
  const link = container.querySelector('a[href^="mailto:"]');
  expect(link?.getAttribute('href')).toBe('mailto:keys@ships.example');
  expect(link?.parentElement?.textContent).toBe('Forgot your password? Ask keys@ships.example');
});

it('shows those of the product if the installation has none, and asks nobody', async () => {
  await showWith(status({}));
  await act(() => vi.waitUntil(() => container.querySelector('img')));
  expect(images().map(([, alt]) => alt)).toEqual(['', '']);
  expect(container.querySelector('header')?.textContent).toBe('Keymeter');
  expect(document.title).toBe('Sign in · Keymeter');
  expect(container.textContent).not.toContain('Forgot your password?');
});

it('shows no name before it is known, and that of the product if the server does not answer', async () => {
  let fail: (reason: Error) => void = () => {};
  await showWith(() => new Promise((_, reject) => (fail = reject)));
  expect(images()).toEqual([]);
  expect(container.textContent).not.toContain('Keymeter');
  await act(async () => fail(new TypeError('unreachable')));
  await act(() => vi.waitUntil(() => container.querySelector('img')));
  expect(container.querySelector('header')?.textContent).toBe('Keymeter');
});
