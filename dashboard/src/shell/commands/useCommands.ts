import { type ComponentType, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useUser } from '../../api/session';
import { FOCUS_RETURN_MS } from '../../shared/focus';
import { notifyFailure } from '../../shared/notify';
import { undoLatest } from '../../shared/notifyUndo';
import { texts } from '../../texts';
import { isDialogOpen, isField, type Shortcut, shortcutOf } from './shortcut';
import { areSingleKeysOn } from './singleKeys';

export interface CommandDialogProps {
  opened: boolean;
  onClose: () => void;
  onOpen: (dialog: CommandDialog) => void;
}

// Loaded when they open, because most visits do not need them.
const dialogs = { palette: () => import('./Palette'), help: () => import('./ShortcutsHelp') };

export type CommandDialog = keyof typeof dialogs;

/**
 * The dialogs for commands, and the keyboard shortcuts of every page. The focus is returned here, because a dialog that is
 * loaded first does not know where it was.
 */
export function useCommands() {
  const [loaded, setLoaded] = useState<Partial<Record<CommandDialog, ComponentType<CommandDialogProps>>>>({});
  const [opened, setOpened] = useState<CommandDialog>();
  const focusBefore = useRef<Element>(null);
  const [, navigate] = useLocation();
  const { token_api_enabled } = useUser();

  async function open(dialog: CommandDialog) {
    focusBefore.current = document.activeElement;
    try {
      const { default: Dialog } = await dialogs[dialog]();
      setLoaded((others) => ({ ...others, [dialog]: Dialog }));
      setOpened(dialog);
    } catch {
      notifyFailure(new Error(texts.shell.crashed.stale));
    }
  }

  function close() {
    setOpened(undefined);
    setTimeout(() => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && focusBefore.current instanceof HTMLElement) {
        focusBefore.current.focus({ preventScroll: true });
      }
    }, FOCUS_RETURN_MS / 2);
  }

  function run(shortcut: Shortcut): boolean {
    switch (shortcut) {
      case 'palette':
        if (opened === 'palette') close();
        // A dialog may hold a form that is half filled.
        else if (!isDialogOpen()) open('palette');
        return true;
      case 'help':
        open('help');
        return true;
      case 'undo':
        return undoLatest();
      case 'create':
        if (token_api_enabled) navigate('/keys?create');
        return token_api_enabled;
      case 'search': {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (search) search.focus();
        else open('palette');
        return true;
      }
    }
  }

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    const isBusy = isField(event.target) || isDialogOpen();
    const shortcut = shortcutOf(event, { isBusy, singleKeys: areSingleKeysOn() });
    if (!event.defaultPrevented && shortcut && run(shortcut)) event.preventDefault();
  });

  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return { loaded, opened, open, close };
}
