import { expect } from 'vitest';
import { type Look, lookName } from '../../harness/looks';
import { test } from '../../harness/test';
import { walkAdministrationDialogs, walkUserDialogs } from './administrationDialogs';
import { DIALOGS, type DialogComponent, dialogsInSource } from './components';
import { DialogWalk } from './DialogWalk';
import { walkAccountDialogs, walkKeyDialogs } from './ownDialogs';

/** There are many dialogs. */
const TIMEOUT_MS = 600_000;

const PARTS = {
  'about keys': walkKeyDialogs,
  'about the own account': walkAccountDialogs,
  'about users': walkUserDialogs,
  'of administrators': walkAdministrationDialogs,
};

/** Opens every dialog and menu once, resizes it to all screens, and checks it. */
export function checkEveryDialog(look: Look) {
  const walk = new DialogWalk(look);
  for (const [about, walkPart] of Object.entries(PARTS)) {
    test(
      `the dialogs ${about} are accessible and fit all screens: ${lookName(look)}`,
      async ({ visit }) => {
        const before = walk.problems.length;
        await walkPart(walk, visit);
        expect(walk.problems.slice(before)).toEqual([]);
      },
      TIMEOUT_MS,
    );
  }

  test(`every dialog was checked: ${lookName(look)}`, () => {
    const { 'pages/keys/SelectionBar.tsx': _, ...dialogs } = DIALOGS;
    expect(dialogsInSource()).toEqual(dialogs);
    const unchecked = Object.entries(DIALOGS).filter(
      ([component, count]) => walk.countOf(component as DialogComponent) < Math.max(1, count),
    );
    expect(unchecked).toEqual([]);
  });
}
