import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useRevealKey } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { copyLater } from '../../../shared/copyText';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { useLoaded } from '../../../shared/useLoaded';
import { texts } from '../../../texts';
import { KeyFormDrawer } from '../form/KeyFormDrawer';
import { useSwitchKeys } from './useSwitchKeys';

// Few need them, and everybody waits for this page.
const loadDialogs = () => import('./SeldomDialogs');

export interface KeyActions {
  edit: (token: Token) => void;
  /** Opens the form of a new key with the settings of this one. */
  duplicate: (token: Token) => void;
  /** Shows the key of a new token. The focus returns to `from`. */
  showNew: (token: Token, from: Element | null) => void;
  remove: (tokens: Token[]) => void;
  setSwitch: (tokens: [Token], on: boolean) => void;
  copyKey: (token: Token) => void;
  revealKey: (token: Token) => void;
  /** Asks how long the old key works. */
  replaceKey: (token: Token) => void;
}

interface Options {
  onDeleted?: (tokens: Token[]) => void;
  /** Gets the focus after keys are deleted, because their rows no longer exist. */
  focusAfterDelete?: RefObject<HTMLElement | null>;
}

/** The actions on keys, and the dialogs that they open. */
export function useKeyActions(options: Options = {}): { actions: KeyActions; dialogs: ReactNode } {
  const [editing, setEditing] = useState<Token>();
  const [template, setTemplate] = useState<Token>();
  const [created, setCreated] = useState<Token>();
  const createdFrom = useRef<Element>(null);
  const [deleting, setDeleting] = useState<Token[]>();
  const [replacing, setReplacing] = useState<Token>();
  const [revealed, setRevealed] = useState<{ name: string; key: string }>();
  const { SeldomDialogs } =
    useLoaded(loadDialogs, Boolean(created ?? deleting ?? replacing ?? revealed)) ?? {};
  const { setSwitch } = useSwitchKeys();
  const reveal = useRevealKey();

  function duplicate(token: Token) {
    createdFrom.current = document.activeElement;
    setTemplate(token);
  }

  function showNew(token: Token, from: Element | null) {
    createdFrom.current = from;
    setCreated(token);
  }

  function closeCreated() {
    setCreated(undefined);
    // The form that had the focus no longer exists.
    if (createdFrom.current instanceof HTMLElement) createdFrom.current.focus();
  }

  async function readKey(token: Token): Promise<string | undefined> {
    try {
      return await reveal.mutateAsync(token);
    } catch (error) {
      notifyFailure(error as Error);
      return undefined;
    } finally {
      reveal.reset();
    }
  }

  async function revealKey(token: Token) {
    const key = await readKey(token);
    if (key) setRevealed({ name: token.name, key });
  }

  async function copyKey(token: Token) {
    if (await copyLater(readKey(token))) notifySuccess(texts.keys.copied(token.name));
  }

  const dialogs = (
    <>
      <KeyFormDrawer opened={editing !== undefined} token={editing} onClose={() => setEditing(undefined)} />
      <KeyFormDrawer
        opened={template !== undefined}
        template={template}
        onCreated={setCreated}
        onClose={() => setTemplate(undefined)}
      />
      {SeldomDialogs && (
        <SeldomDialogs
          created={{ of: created, onClose: closeCreated }}
          deleting={{ of: deleting, onClose: () => setDeleting(undefined) }}
          replacing={{ of: replacing, onClose: () => setReplacing(undefined) }}
          revealed={{ of: revealed, onClose: () => setRevealed(undefined) }}
          onDeleted={options.onDeleted}
          focusAfterDelete={options.focusAfterDelete}
        />
      )}
    </>
  );
  return {
    actions: {
      edit: setEditing,
      duplicate,
      showNew,
      remove: setDeleting,
      setSwitch,
      copyKey,
      revealKey,
      replaceKey: setReplacing,
    },
    dialogs,
  };
}
