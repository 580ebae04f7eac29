// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notifyUndo, undoLatest } from './notifyUndo';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const undo = vi.fn();
let root: Root;

beforeEach(async () => {
  vi.useFakeTimers();
  document.body.innerHTML = '<button>Before</button><div id="root"></div>';
  root = createRoot(document.getElementById('root') as HTMLElement);
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <Notifications />
      </MantineProvider>,
    ),
  );
  await act(async () => notifyUndo('Disabled it.', undo));
});

afterEach(async () => {
  await act(async () => notifications.clean());
  await act(async () => root.unmount());
  vi.useRealTimers();
  undo.mockReset();
});

const alert = () => document.querySelector<HTMLElement>('[role="alert"]');

function button(label: string): HTMLElement {
  const found = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === label);
  if (!found) throw new Error(`no button “${label}”`);
  return found;
}

/** Then the transition of what it closes. */
async function pass(milliseconds: number) {
  await act(async () => vi.advanceTimersByTime(milliseconds));
  await act(async () => vi.advanceTimersByTime(500));
}

describe('notifyUndo', () => {
  it('announces the message for at least 8 seconds', async () => {
    expect(alert()?.textContent).toContain('Disabled it.');
    await pass(8000);
    expect(alert()).not.toBeNull();
    await pass(5000);
    expect(alert()).toBeNull();
    expect(undoLatest()).toBe(false);
  });

  it('stays while it has the focus, undoes once, and returns the focus', async () => {
    button('Before').focus();
    await act(async () => button('Undo').focus());
    await pass(60_000);
    await act(async () => button('Undo').click());
    await pass(0);
    expect(undo).toHaveBeenCalledOnce();
    expect(alert()).toBeNull();
    expect(document.activeElement).toBe(button('Before'));
    expect(undoLatest()).toBe(false);
  });

  it('goes after the focus has left', async () => {
    button('Before').focus();
    await act(async () => button('Undo').focus());
    await act(async () => button('Before').focus());
    await pass(11_000);
    expect(alert()).toBeNull();
  });

  it('is undone without the button, and without moving the focus', async () => {
    button('Before').focus();
    await act(async () => expect(undoLatest()).toBe(true));
    expect(undo).toHaveBeenCalledOnce();
    expect(document.activeElement).toBe(button('Before'));
  });
});
