import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useRevealKey } from '../../../api/tokenChanges';
import { type Switched, useSwitchTokens } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { failureText } from '../../../format/failure';
import { formatInteger } from '../../../format/locale';
import { notifyFailure, notifySuccess } from '../../../shared/notify';
import { notifyUndo } from '../../../shared/notifyUndo';
import { texts } from '../../../texts';
import { KeyFormDrawer } from '../form/KeyFormDrawer';
import { DeleteKeysDialog } from './DeleteKeysDialog';
import { DisableKeysDialog } from './DisableKeysDialog';
import { NewKeyDialog } from './NewKeyDialog';
import { RevealedKeyDialog } from './RevealedKeyDialog';

export interface KeyActions {
  edit: (token: Token) => void;
  /** Opens the form of a new key with the settings of this one. */
  duplicate: (token: Token) => void;
  remove: (tokens: Token[]) => void;
  setSwitch: (tokens: Token[], on: boolean) => void;
  /** Asks first. */
  disableAll: (tokens: Token[]) => void;
  copyKey: (token: Token) => void;
  revealKey: (token: Token) => void;
}

interface Options {
  onDeleted?: (tokens: Token[]) => void;
  /** Several keys were disabled together. */
  onDisabled?: () => void;
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
  const [revealed, setRevealed] = useState<{ name: string; key: string }>();
  const switchTokens = useSwitchTokens();
  const reveal = useRevealKey();

  // Awaited, because `mutate` runs its callbacks only for the last of several concurrent calls.
  async function switchAll(tokens: Token[], on: boolean, report: (switched: Token[]) => void) {
    try {
      const result = await switchTokens.mutateAsync({ tokens, on });
      report(result.switched);
      reportRefused(result);
    } catch (error) {
      notifyFailure(error as Error);
    }
  }

  function setSwitch(tokens: Token[], on: boolean) {
    return switchAll(tokens, on, (switched) => {
      const [first] = switched;
      if (!on && first) notifyUndo(texts.keys.switched.disabled(first.name), () => enableAgain(switched));
    });
  }

  function enableAgain(tokens: Token[]) {
    return switchAll(tokens, true, ({ length }) => notifySuccess(texts.keys.switched.undone(length)));
  }

  function reportRefused({ switched, refused }: Switched) {
    const [first] = refused;
    if (!first) return;
    const { someRefused } = texts.keys.switched;
    const all = switched.length + refused.length;
    notifyFailure(new Error(someRefused(formatInteger(refused.length), all, failureText(first.error))));
  }

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
    const key = await readKey(token);
    if (!key) return;
    try {
      await navigator.clipboard.writeText(key);
      notifySuccess(texts.keys.copied(token.name));
    } catch {
      // Some browsers do not allow copying after a request. The dialog lets the user copy.
      setRevealed({ name: token.name, key });
    }
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
      <DisableKeysDialog
        tokens={disabling}
        onUndo={enableAgain}
        onDisabled={(result) => {
          reportRefused(result);
          options.onDisabled?.();
        }}
        onClose={() => setDisabling(undefined)}
      />
      <RevealedKeyDialog revealed={revealed} onClose={() => setRevealed(undefined)} />
    </>
  );
  return {
    actions: {
      edit: setEditing,
      duplicate,
      remove: setDeleting,
      disableAll: setDisabling,
      setSwitch,
      copyKey,
      revealKey,
    },
    dialogs,
  };
}
