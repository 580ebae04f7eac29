// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest';
import { isDialogOpen, isField, shortcutOf } from './shortcut';

const FREE = { isBusy: false, singleKeys: true };

function press(key: string, changes: Partial<KeyboardEvent> = {}) {
  const none = {
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    isComposing: false,
    repeat: false,
  };
  return { key, code: `Key${key.toUpperCase()}`, ...none, ...changes };
}

describe('shortcutOf', () => {
  it.each([
    ['Ctrl K', press('k', { ctrlKey: true }), 'palette'],
    ['⌘K', press('k', { metaKey: true }), 'palette'],
    ['Ctrl K with caps lock', press('K', { ctrlKey: true }), 'palette'],
    ['Ctrl K in Russian', press('л', { code: 'KeyK', ctrlKey: true }), 'palette'],
    ['Ctrl ⌘ K', press('k', { ctrlKey: true, metaKey: true }), undefined],
    ['Ctrl Alt K', press('k', { ctrlKey: true, altKey: true }), undefined],
    ['Ctrl C', press('c', { ctrlKey: true }), undefined],
    ['Ctrl Z', press('z', { ctrlKey: true }), 'undo'],
    ['⌘Z', press('z', { metaKey: true }), 'undo'],
    ['Ctrl Shift Z', press('Z', { ctrlKey: true, shiftKey: true }), undefined],
    ['Alt C', press('c', { altKey: true }), undefined],
    ['c', press('c'), 'create'],
    ['/', press('/', { code: 'Slash' }), 'search'],
    ['/ on another layout', press('/', { code: 'Digit7' }), 'search'],
    ['?', press('?', { code: 'Slash' }), 'help'],
    ['a held key', press('c', { repeat: true }), undefined],
    ['an input method', press('c', { isComposing: true }), undefined],
    ['any other key', press('x'), undefined],
    ['Escape', press('Escape', { code: 'Escape' }), undefined],
  ])('%s', (_, event, shortcut) => {
    expect(shortcutOf(event, FREE)).toBe(shortcut);
  });

  it('has no single keys while the user types, or if they are off', () => {
    for (const context of [
      { ...FREE, isBusy: true },
      { ...FREE, singleKeys: false },
    ]) {
      for (const key of ['c', '/', '?']) expect(shortcutOf(press(key), context)).toBeUndefined();
      expect(shortcutOf(press('k', { ctrlKey: true }), context)).toBe('palette');
    }
    expect(shortcutOf(press('z', { ctrlKey: true }), { ...FREE, isBusy: true })).toBeUndefined();
  });
});

describe('isField', () => {
  it.each([
    ['<input id="x">', true],
    ['<input id="x" type="search">', true],
    ['<input id="x" type="date">', true],
    ['<textarea id="x"></textarea>', true],
    ['<select id="x"></select>', true],
    ['<div role="menu"><button id="x"></button></div>', true],
    ['<input id="x" type="checkbox">', false],
    ['<button id="x"></button>', false],
    ['<a id="x" href="/"></a>', false],
  ])('%s: %s', (html, expected) => {
    document.body.innerHTML = html;
    expect(isField(document.getElementById('x'))).toBe(expected);
  });

  it('knows open dialogs', () => {
    document.body.innerHTML = '';
    expect(isDialogOpen()).toBe(false);
    document.body.innerHTML = '<section role="dialog"></section>';
    expect(isDialogOpen()).toBe(true);
  });
});
