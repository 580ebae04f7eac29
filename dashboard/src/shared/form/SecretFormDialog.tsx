import type { ModalProps } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FOCUS_RETURN_MS } from '../focus';
import { SecretDialog, type SecretDialogProps } from '../SecretDialog';
import { FormModal } from './FormModal';

interface Props<Created> extends Pick<ModalProps, 'title' | 'size' | 'opened' | 'onClose'> {
  /** The form calls `onDone` with what it created, or without anything if that has no secret. */
  form: (onDone: (created?: Created) => void) => ReactNode;
  /** What the second dialog shows. It is closed while nothing is created. */
  secret: (created: Created | undefined) => Omit<SecretDialogProps, 'onClose'>;
}

/**
 * A dialog with a form that creates a secret, and the dialog that shows it. The second one opens after the first one has
 * closed and returned the focus, so that the second returns the focus to the same element.
 */
export function SecretFormDialog<Created>({ form, secret, onClose, ...modal }: Props<Created>) {
  const [created, setCreated] = useState<Created>();
  const [isShown, setShown] = useState(false);

  function done(result?: Created) {
    onClose();
    setCreated(result);
  }

  function show() {
    if (created !== undefined) setTimeout(() => setShown(true), FOCUS_RETURN_MS);
  }

  function forget() {
    setCreated(undefined);
    setShown(false);
  }

  return (
    <>
      <FormModal {...modal} onClose={onClose} onExitTransitionEnd={show}>
        {form(done)}
      </FormModal>
      <SecretDialog {...secret(isShown ? created : undefined)} onClose={forget} />
    </>
  );
}
