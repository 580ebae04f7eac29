// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { useReadAnyToken } from '../../../api/adminTokens';
import { useReadAccount } from '../../../api/adminUsers';
import type { Remedy } from '../../../api/outlook';
import { UserContext } from '../../../api/session';
import { useReadToken } from '../../../api/tokens';
import { makeToken } from '../../../test/makeToken';
import { makeUser } from '../../../test/makeUser';
import { useSwitchAnyKey } from '../../admin/tokens/useSwitchAnyKey';
import { useSwitchKeys } from '../actions/useSwitchKeys';
import { KeyFormDrawer } from '../form/KeyFormDrawer';
import { useRemedies } from './useRemedies';

vi.mock('../../../api/adminTokens');
vi.mock('../../../api/adminUsers', { spy: true });
vi.mock('../../../api/tokens');
vi.mock('../../admin/tokens/useSwitchAnyKey');
vi.mock('../actions/useSwitchKeys');
vi.mock('../form/KeyFormDrawer', () => ({ KeyFormDrawer: vi.fn(() => null) }));
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

const [OWN, OTHER] = [1, 2];
const token = makeToken();
const [enableOwn, enableAny] = [vi.fn(), vi.fn()];
vi.mocked(useReadToken).mockReturnValue(async () => token);
vi.mocked(useReadAnyToken, { partial: true }).mockReturnValue(async () => token as never);
const ada = makeUser({ id: OTHER, username: 'ada' });
vi.mocked(useReadAccount).mockReturnValue(async () => ada);
vi.mocked(useSwitchKeys, { partial: true }).mockReturnValue({ enableAgain: enableOwn });
vi.mocked(useSwitchAnyKey, { partial: true }).mockReturnValue({ enableAgain: enableAny });

function Shown({ remedy, owner }: { remedy: Remedy; owner: number }) {
  const { show, forms } = useRemedies();
  const key = { id: token.id, name: 'Crawler', owner: { id: owner, name: 'ada' } };
  return (
    <main>
      {show(remedy, key)}
      {forms}
    </main>
  );
}

const enable: Remedy = { action: 'enable_key', field: 'status', by: 'owner', allowed: true };

async function shown(remedy: Remedy, owner: number) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <UserContext value={makeUser({ id: OWN })}>
            <Shown remedy={remedy} owner={owner} />
          </UserContext>
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
  const main = container.querySelector('main');
  return { text: main?.textContent, button: main?.querySelector('button'), link: main?.querySelector('a') };
}

it('an owner has no button for a key that only root may enable', async () => {
  const { text, button } = await shown({ ...enable, by: 'root', allowed: false }, OWN);
  expect([text, button]).toEqual(['Root can enable it.', null]);
});

it.each([
  [OWN, enableOwn, [[token]]],
  [OTHER, enableAny, [token]],
])('the key of user %i is enabled in the way that its reader may', async (owner, enabling, called) => {
  const { button } = await shown(enable, owner);
  expect(button?.getAttribute('aria-label')).toBe('Enable: Crawler');
  await act(async () => button?.click());
  expect(enabling.mock.calls).toEqual([called]);
});

it.each([
  ['of the reader', OWN, undefined],
  ['of somebody else', OTHER, ada],
])('the form of a key %s opens at the limit', async (_, owner, other) => {
  const { button } = await shown({ ...enable, action: 'raise_limit', field: 'period_limits.day' }, owner);
  await act(async () => {
    button?.click();
    await vi.dynamicImportSettled();
  });
  const fix = { path: 'period_limits.day' };
  expect(vi.mocked(KeyFormDrawer).mock.lastCall?.[0]).toMatchObject({
    opened: true,
    token,
    owner: other,
    fix,
  });
});

it('a change of the account names its owner', async () => {
  const { button } = await shown({ ...enable, action: 'top_up_account', by: 'administrator' }, OTHER);
  expect(button?.getAttribute('aria-label')).toBe('Top up: ada');
});

it('a missing price is a link to its form', async () => {
  const { link } = await shown({ ...enable, action: 'add_price', field: null, value: 'o3' }, OTHER);
  expect([link?.getAttribute('aria-label'), link?.getAttribute('href')]).toEqual([
    'Add a price: o3',
    '/prices?add=o3',
  ]);
});
