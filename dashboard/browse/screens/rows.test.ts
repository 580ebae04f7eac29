import { checkRows } from '../harness/checkRows';
import { WIDTHS } from '../harness/layout';
import { test } from '../harness/test';

test('the controls of every row are in view on all screens', async ({ visit, root, site }) => {
  await checkRows({ visit, root, site }, WIDTHS);
});
