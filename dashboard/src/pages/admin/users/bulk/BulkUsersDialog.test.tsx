// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { UsersChange } from '../../../../api/bulkUsers';
import { ApiError, type Fault } from '../../../../api/error';
import { notifyFailure, notifySuccess } from '../../../../shared/notify';
import { notifyUndo } from '../../../../shared/notifyUndo';
import { makeUser } from '../../../../test/makeUser';
import { BulkUsersDialog } from './BulkUsersDialog';
import type { BulkAction } from './bulkForm';

interface Request {
  body: UsersChange & { dry_run?: boolean };
  params?: { header: { 'Idempotency-Key': string } };
}

const { post } = vi.hoisted(() => ({ post: vi.fn<(path: string, request: Request) => Promise<unknown>>() }));
vi.mock('../../../../api/client', () => ({ api: { POST: post }, call: (answer: unknown) => answer }));
vi.mock('../../../../shared/notify');
vi.mock('../../../../shared/notifyUndo');
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const users = [makeUser({ id: 1, username: 'ana' }), makeUser({ id: 2, username: 'ben' })];
const state = { quota: 0, period_limits: { day: -1, week: -1, month: -1 }, group: 'default', status: 1 };
const changed = users.map(({ id, username }) => ({
  id,
  username,
  before: state,
  after: { ...state, quota: 2_500_000 },
}));
const undo = { ids: [1, 2], undo: 'first' };
const [onDone, onClose, onLeaveOut] = [vi.fn(), vi.fn(), vi.fn()];
let root: Root;

beforeEach(() => {
  document.body.innerHTML = '<div id="root"></div>';
  root = createRoot(document.getElementById('root') as HTMLElement);
});

afterEach(async () => {
  await act(async () => root.unmount());
  vi.clearAllMocks();
});

async function open(action: BulkAction) {
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <BulkUsersDialog request={{ users, action }} {...{ onDone, onClose, onLeaveOut }} />
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
}

async function type(path: string, text: string) {
  const input = document.querySelector<HTMLInputElement>(`[data-path="${path}"]`);
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
    input?.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

async function click(name: string) {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === name);
  if (!button) throw new Error(`no button ${name}`);
  await act(async () => {
    button.click();
    // Mutations tell of their changes later.
    await new Promise((resolve) => setTimeout(resolve));
  });
}

const refusal = (code: string, faults: Fault[]) =>
  new ApiError(409, code, '', undefined, undefined, undefined, faults);
const sent = () => post.mock.calls.map(([, { body }]) => body);
const keys = () => post.mock.calls.map(([, { params }]) => params?.header['Idempotency-Key']);

it('shows what it would do, does it once, and takes it back', async () => {
  post.mockResolvedValueOnce({ dry_run: true, users: changed, undo: null });
  await open('top_up');
  await type('amount', '5');
  await click('Preview');
  expect(document.body.textContent).toContain('2 users will get $10.00 in total.');
  post.mockRejectedValueOnce(new ApiError(503, 'timeout', 'too long'));
  await click('Top up 2 users');
  post.mockResolvedValueOnce({ dry_run: false, users: changed, undo });
  await click('Top up 2 users');

  const change = { ids: [1, 2], add_quota: 2_500_000, note: undefined };
  expect(sent()).toEqual([{ ...change, dry_run: true }, change, change]);
  const [, first, second] = keys();
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toBe(first);
  expect([onDone.mock.calls.length, onClose.mock.calls.length]).toEqual([1, 1]);

  const [message, takeBack] = vi.mocked(notifyUndo).mock.lastCall ?? [];
  expect(message).toBe('Topped up 2 users, with $10.00 in total.');
  post.mockResolvedValueOnce({ dry_run: false, users: changed, undo: null });
  await act(async () => takeBack?.());
  expect(sent().at(-1)).toEqual(undo);
  expect(keys().at(-1)).not.toBe(first);
  expect(notifySuccess).toHaveBeenCalledWith('Took back what 2 users got.');

  const reason = 'root changed this user since, so nothing is taken back';
  post.mockRejectedValueOnce(
    refusal('user_changed', [{ error: 'user_changed', message: reason, id: 1, username: 'ana' }]),
  );
  await act(async () => takeBack?.());
  expect(vi.mocked(notifyFailure).mock.lastCall?.[0].message).toBe(
    'Nothing was taken back. ana: root changed this user since, so nothing is taken back.',
  );
});

it('says who cannot be changed, and leaves them out', async () => {
  post.mockRejectedValueOnce(
    refusal('account_disabled_by_root', [
      { error: 'account_disabled_by_root', message: '', id: 2, username: 'ben' },
    ]),
  );
  await open('enable');
  await click('Preview');
  expect(document.querySelector('[role="alert"]')?.textContent).toContain(
    'ben: Root disabled this user. Only root can enable them.',
  );
  await click('Leave this one out');
  expect(onLeaveOut).toHaveBeenCalledWith([users[1]]);
  expect(document.querySelector('[role="alert"]')).toBeNull();
  expect(sent()).toEqual([{ ids: [1, 2], status: 1, dry_run: true }]);
});

it('sends nothing that is not complete', async () => {
  await open('top_up');
  await click('Preview');
  expect(document.body.textContent).toContain('Enter an amount.');
  expect(post).not.toHaveBeenCalled();
});
