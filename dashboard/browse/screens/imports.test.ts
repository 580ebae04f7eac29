import { checkPage } from '../harness/checkPage';
import { visitImports } from '../harness/importReports';
import { SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { takePictures } from '../harness/pictures';
import { test } from '../harness/test';

for (const look of [LIGHT, DARK]) {
  test(`reports of imports are accessible and fit all screens: ${lookName(look)}`, async ({ visit }) => {
    const page = await visitImports(visit, look);
    await checkPage(page, SCREENS);
    await takePictures(page, `admin-imports-runs-${look.colorScheme}`);
  });
}
