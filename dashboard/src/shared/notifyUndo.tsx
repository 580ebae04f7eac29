import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { FocusEvent } from 'react';
import { texts } from '../texts';

/** Long enough to read the message and to reach the button. */
const SHOWN_MS = 10_000;

/** The latest one that is shown. */
let latest: { id: string; undo: () => void } | undefined;

/** Says what was done, with a button that takes it back. It stays while it has the focus, and returns the focus. */
export function notifyUndo(message: string, undo: () => void) {
  let returnTo: HTMLElement | undefined;
  const content = (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <div>{message}</div>
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        aria-keyshortcuts="Control+Z Meta+Z"
        onClick={() => run()}
      >
        {texts.common.undo}
      </Button>
    </Group>
  );

  const isInside = ({ currentTarget, relatedTarget }: FocusEvent) =>
    currentTarget.contains(relatedTarget as Node | null);

  const id = notifications.show({
    message: content,
    color: 'petrol',
    autoClose: SHOWN_MS,
    onFocusCapture: (event: FocusEvent) => {
      if (isInside(event)) return;
      if (event.relatedTarget instanceof HTMLElement) returnTo = event.relatedTarget;
      notifications.update({ id, message: content, autoClose: false });
    },
    onBlurCapture: (event: FocusEvent) => {
      if (isInside(event)) return;
      returnTo = undefined;
      notifications.update({ id, message: content, autoClose: SHOWN_MS });
    },
    onClose: () => {
      if (latest?.id === id) latest = undefined;
      returnTo?.focus();
    },
  });

  function run() {
    notifications.hide(id);
    undo();
  }

  latest = { id, undo: run };
}

/** Undoes what the latest notification offers to undo. Returns false if none does. */
export function undoLatest(): boolean {
  const offered = latest;
  offered?.undo();
  return offered !== undefined;
}
