import { checkPage } from '../harness/checkPage';
import { SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { PAGES, settled, visitTo } from '../harness/pages';
import { takePictures } from '../harness/pictures';
import { expect, test } from '../harness/test';

for (const { texts: _, ...look } of [LIGHT, DARK]) {
  for (const demoPage of PAGES) {
    const { name } = demoPage;
    test(`${name} is accessible and fits all screens: ${lookName(look)}`, async ({ visit, site }) => {
      const to = await visitTo(site, demoPage);
      const page = await visit({ ...look, ...to });
      await settled(page);
      expect(page.url()).toBe(site + to.path);
      await checkPage(page, SCREENS);
      await takePictures(page, `${name}-${look.colorScheme}`);
    });
  }
}
