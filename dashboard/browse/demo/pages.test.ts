import { checkPage } from '../harness/checkPage';
import { THREE_SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { PAGES, settled, visitTo } from '../harness/pages';
import { expect, test } from '../harness/test';

// `screens` checks every page on all screens, and in both looks.
for (const [index, demoPage] of PAGES.entries()) {
  const { texts: _, ...look } = index % 2 === 0 ? LIGHT : DARK;
  test(`${demoPage.name} is accessible and fits three screens: ${lookName(look)}`, async ({
    visit,
    site,
  }) => {
    const to = await visitTo(site, demoPage);
    const page = await visit({ ...look, ...to });
    await settled(page);
    expect(page.url()).toBe(site + to.path);
    await checkPage(page, THREE_SCREENS);
  });
}
