import { checkPage } from '../harness/checkPage';
import { SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { openPage, PAGES } from '../harness/pages';
import { takePictures } from '../harness/pictures';
import { test } from '../harness/test';

for (const { texts: _, ...look } of [LIGHT, DARK]) {
  for (const demoPage of PAGES) {
    const { name } = demoPage;
    test(`${name} is accessible and fits all screens: ${lookName(look)}`, async ({ visit, site }) => {
      const page = await openPage({ visit, site }, demoPage, look);
      await checkPage(page, SCREENS);
      await takePictures(page, `${name}-${look.colorScheme}`);
    });
  }
}
