import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useRevealKey } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { copyLater } from '../../../shared/copyText';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { useLoaded } from '../../../shared/useLoaded';
import { texts } from '../../../texts';
import { KeyFormDrawer } from '../form/KeyFormDrawer';
import { DeleteKeysDialog } from './DeleteKeysDialog';
import { NewKeyDialog } from './NewKeyDialog';
import { useSwitchKeys } from './useSwitchKeys';

// Few need them, and everybody waits for this page.
const loadDialogs = () => import('./seldomDialogs');
const loadAddQuota = () => import('./AddQuotaDialog');
const loadDisable = () => import('./DisableKeysDialog');

export interface KeyActions {
  edit: (token: Token) => void;
  /** Opens the form of a new key with the settings of this one. */
  duplicate: (token: Token) => void;
  remove: (tokens: Token[]) => void;
  setSwitch: (tokens: [Token], on: boolean) => void;
  /** Resolves to false if the server refused one, and so all. */
  enableAll: (tokens: Token[]) => Promise<boolean>;
  /** Asks how much. */
  addQuota: (tokens: Token[]) => void;
  /** Asks first. */
  disableAll: (tokens: Token[]) => void;
  copyKey: (token: Token) => void;
  revealKey: (token: Token) => void;
  /** Asks how long the old key works. */
  replaceKey: (token: Token) => void;
}

interface Options {
  onDeleted?: (tokens: Token[]) => void;
  /** Several keys were disabled together. */
  onDisabled?: () => void;
  /** Quota was added to several keys together. */
  onQuotaAdded?: () => void;
  /** Gets the focus after keys are deleted, because their rows no longer exist. */
  focusAfterDelete?: RefObject<HTMLElement | null>;
}

/** The actions on keys, and the dialogs that they open. */
export function useKeyActions(options: Options = {}): { actions: KeyActions; dialogs: ReactNode } {
  const [editing, setEditing] = useState<Token>();
  const [template, setTemplate] = useState<Token>();
  const [created, setCreated] = useState<Token>();
  const duplicatedFrom = useRef<Element>(null);
  const [deleting, setDeleting] = useState<Token[]>();
  const [disabling, setDisabling] = useState<Token[]>();
  const [raising, setRaising] = useState<Token[]>();
  const [replacing, setReplacing] = useState<Token>();
  const [revealed, setRevealed] = useState<{ name: string; key: string }>();
  const seldom = useLoaded(loadDialogs, Boolean(replacing ?? revealed));
  const { AddQuotaDialog } = useLoaded(loadAddQuota, raising !== undefined) ?? {};
  const { DisableKeysDialog } = useLoaded(loadDisable, disabling !== undefined) ?? {};
  const { setSwitch, enableAll, enableAgain } = useSwitchKeys();
  const reveal = useRevealKey();

  function duplicate(token: Token) {
    duplicatedFrom.current = document.activeElement;
    setTemplate(token);
  }

  function closeCreated() {
    setCreated(undefined);
    // The form that had the focus no longer exists.
    if (duplicatedFrom.current instanceof HTMLElement) duplicatedFrom.current.focus();
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
      <NewKeyDialog created={created} onClose={closeCreated} />
      <DeleteKeysDialog
        tokens={deleting}
        onDeleted={options.onDeleted}
        focusAfterDelete={options.focusAfterDelete}
        onClose={() => setDeleting(undefined)}
      />
      {DisableKeysDialog && (
        <DisableKeysDialog
          tokens={disabling}
          onUndo={enableAgain}
          onDisabled={options.onDisabled}
          onClose={() => setDisabling(undefined)}
        />
      )}
      {AddQuotaDialog && (
        <AddQuotaDialog
          tokens={raising}
          onAdded={options.onQuotaAdded}
          onClose={() => setRaising(undefined)}
        />
      )}
      {seldom && (
        <>
          <seldom.ReplaceKeyDialog token={replacing} onClose={() => setReplacing(undefined)} />
          <seldom.RevealedKeyDialog revealed={revealed} onClose={() => setRevealed(undefined)} />
        </>
      )}
    </>
  );
  return {
    actions: {
      edit: setEditing,
      duplicate,
      remove: setDeleting,
      disableAll: setDisabling,
      setSwitch,
      enableAll,
      addQuota: setRaising,
      copyKey,
      revealKey,
      replaceKey: setReplacing,
    },
    dialogs,
  };
}
