import { DARK, LIGHT, lookName } from '../harness/looks';
import { expect, test } from '../harness/test';
import { walkAdministrationDialogs, walkUserDialogs } from './dialogs/administrationDialogs';
import { DIALOGS, type DialogComponent, dialogsInSource } from './dialogs/components';
import { DialogWalk } from './dialogs/DialogWalk';
import { walkAccountDialogs, walkKeyDialogs } from './dialogs/ownDialogs';

/** There are many dialogs. */
const TIMEOUT_MS = 600_000;

const PARTS = [
  ['about keys', walkKeyDialogs],
  ['about the own account', walkAccountDialogs],
  ['about users', walkUserDialogs],
  ['of administrators', walkAdministrationDialogs],
] as const;

for (const look of [LIGHT, DARK]) {
  for (const [about, walkPart] of PARTS) {
    test(`the dialogs ${about} are accessible and fit all screens: ${lookName(look)}`, async ({ visit }) => {
      test.setTimeout(TIMEOUT_MS);
      const walk = new DialogWalk(look);
      await walkPart(walk, visit);
      expect(walk.problems).toEqual([]);
      const unchecked = Object.entries(DIALOGS[about]).filter(
        ([component, count]) => walk.countOf(component as DialogComponent) < Math.max(1, count),
      );
      expect(unchecked).toEqual([]);
    });
  }
}

test('every dialog and menu of the source is listed', () => {
  const { 'pages/keys/SelectionBar.tsx': _, ...aboutKeys } = DIALOGS['about keys'];
  const listed = Object.assign({}, ...Object.values({ ...DIALOGS, 'about keys': aboutKeys }));
  expect(dialogsInSource()).toEqual(listed);
});
