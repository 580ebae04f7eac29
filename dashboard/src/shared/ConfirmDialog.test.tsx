// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act, useRef, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../api/error';
import { ConfirmDialog } from './ConfirmDialog';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const revoke = vi.fn<(id: number) => Promise<string>>();
let root: Root;

beforeEach(async () => {
  document.body.innerHTML = '<div id="root"></div>';
  root = createRoot(document.getElementById('root') as HTMLElement);
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <Page />
          <Notifications />
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
  button('Open').focus();
  await click('Open');
});

afterEach(async () => {
  await act(async () => root.unmount());
  revoke.mockReset();
});

function Page() {
  const [opened, setOpened] = useState(false);
  const createButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button type="button" ref={createButton}>
        Create
      </button>
      <button type="button" onClick={() => setOpened(true)}>
        Open
      </button>
      <ConfirmDialog
        opened={opened}
        title="Revoke edge?"
        actionLabel="Revoke"
        mutation={useMutation<string, Error, number>({ mutationFn: revoke })}
        variables={7}
        successMessage={(name) => `Revoked ${name}.`}
        focusAfterSuccess={createButton}
        onClose={() => setOpened(false)}
      >
        It stops working.
      </ConfirmDialog>
    </>
  );
}

function dialog(): HTMLElement | null {
  return document.querySelector('[role="dialog"]');
}

function button(label: string): HTMLButtonElement {
  const found = [...document.querySelectorAll('button')].find((each) => each.textContent?.trim() === label);
  if (!found) throw new Error(`no button ${label}`);
  return found;
}

async function click(label: string) {
  await act(async () => button(label).click());
  await act(async () => vi.waitFor(() => {}));
}

describe('ConfirmDialog', () => {
  it('shows the title and the text, and focuses Cancel', async () => {
    expect(dialog()?.textContent).toContain('Revoke edge?');
    expect(dialog()?.textContent).toContain('It stops working.');
    await vi.waitFor(() => expect(document.activeElement).toBe(button('Cancel')));
  });

  it('does nothing when it is cancelled, and returns the focus', async () => {
    await click('Cancel');
    expect(revoke).not.toHaveBeenCalled();
    expect(dialog()).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(button('Open')));
  });

  it('runs the action, closes, reports success and moves the focus', async () => {
    revoke.mockResolvedValue('edge');
    await click('Revoke');
    await vi.waitFor(() => expect(dialog()).toBeNull());
    expect(revoke.mock.calls[0]?.[0]).toBe(7);
    expect(document.body.textContent).toContain('Revoked edge.');
    await vi.waitFor(() => expect(document.activeElement).toBe(button('Create')));
  });

  it('stays open with the message of the server when the action fails, and forgets it on close', async () => {
    revoke.mockRejectedValue(new ApiError(409, 'conflict', 'the gateway is in use'));
    await click('Revoke');
    await vi.waitFor(() =>
      expect(dialog()?.querySelector('[role="alert"]')?.textContent).toBe('The gateway is in use.'),
    );
    await click('Cancel');
    await click('Open');
    expect(dialog()?.querySelector('[role="alert"]')).toBeNull();
  });
});
