import { Modal, type ModalProps } from '@mantine/core';
import { DiscardContext, useDiscard } from './discard';

/** A dialog with a form. It asks before it closes if something was typed. */
export function FormModal({ onClose, children, ...props }: ModalProps) {
  const { context, question, props: closing } = useDiscard(props.opened, onClose);
  return (
    <>
      <Modal {...props} {...closing}>
        <DiscardContext value={context}>{children}</DiscardContext>
      </Modal>
      {question}
    </>
  );
}
