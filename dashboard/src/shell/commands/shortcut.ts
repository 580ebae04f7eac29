export type Shortcut = 'palette' | 'create' | 'search' | 'help' | 'undo';

type Key = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey' | 'isComposing' | 'repeat'
>;

interface Context {
  /** The focus is in a field or a menu, or a dialog is open. */
  isBusy: boolean;
  /** The user has not turned off shortcuts of a single key. */
  singleKeys: boolean;
}

const singleKeys: Record<string, Shortcut | undefined> = { c: 'create', '/': 'search', '?': 'help' };

/** The shortcut of a pressed key. Single keys have none while the user types. */
export function shortcutOf(event: Key, context: Context): Shortcut | undefined {
  const { ctrlKey, metaKey, altKey, shiftKey, isComposing, repeat } = event;
  if (isComposing || repeat) return undefined;
  const key = latin(event);
  if (ctrlKey && metaKey) return undefined;
  if (ctrlKey || metaKey) {
    if (key === 'k' && !altKey) return 'palette';
    // In a field, the browser undoes what was typed.
    return key === 'z' && !altKey && !shiftKey && !context.isBusy ? 'undo' : undefined;
  }
  if (altKey || context.isBusy || !context.singleKeys) return undefined;
  return singleKeys[key];
}

/** The letter on the key. A layout of another script has the letters of an English one. */
function latin({ key, code }: Key): string {
  const isOtherLetter = /^\p{L}$/u.test(key) && !/^[a-z]$/i.test(key);
  return (isOtherLetter && /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase()) || key.toLowerCase();
}

const FIELDS =
  'textarea, select, [role="combobox"], [role="textbox"], [role="listbox"], [role="menu"], ' +
  'input:not([type="checkbox"], [type="radio"], [type="button"], [type="submit"], [type="reset"])';

/** Returns true if keys pressed in this element are input. */
export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest(FIELDS) !== null;
}

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"]') !== null;
}

const CONTROL = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? '⌘' : 'Ctrl';

/** "⌘K" on Apple keyboards, else "Ctrl K". */
export const PALETTE_KEYS: string[] = [CONTROL, 'K'];
export const UNDO_KEYS: string[] = [CONTROL, 'Z'];

/** The keys of the browser that copy what is selected. */
export const COPY_KEYS = CONTROL === 'Ctrl' ? 'Ctrl+C' : '⌘C';
