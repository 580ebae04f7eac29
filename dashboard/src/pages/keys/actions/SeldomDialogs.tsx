import { useMounted } from '@mantine/hooks';
import type { ComponentProps } from 'react';
import type { Token } from '../../../api/tokens';
import { DeleteKeysDialog } from './DeleteKeysDialog';
import { NewKeyDialog } from './NewKeyDialog';
import { ReplaceKeyDialog } from './ReplaceKeyDialog';
import { RevealedKeyDialog } from './RevealedKeyDialog';

interface Dialog<What> {
  /** The dialog is open while this is defined. */
  of: What | undefined;
  onClose: () => void;
}

interface Props extends Pick<ComponentProps<typeof DeleteKeysDialog>, 'onDeleted' | 'focusAfterDelete'> {
  created: Dialog<Token>;
  deleting: Dialog<Token[]>;
  replacing: Dialog<Token>;
  revealed: Dialog<{ name: string; key: string }>;
}

/** The dialogs that few visits open. */
export function SeldomDialogs({ created, deleting, replacing, revealed, ...deletion }: Props) {
  // A dialog remembers the focused element when it changes to open, so each is mounted closed first.
  const isMounted = useMounted();
  const shown = <What,>({ of }: Dialog<What>) => (isMounted ? of : undefined);
  return (
    <>
      <NewKeyDialog created={shown(created)} onClose={created.onClose} />
      <DeleteKeysDialog tokens={shown(deleting)} onClose={deleting.onClose} {...deletion} />
      <ReplaceKeyDialog token={shown(replacing)} onClose={replacing.onClose} />
      <RevealedKeyDialog revealed={shown(revealed)} onClose={revealed.onClose} />
    </>
  );
}
