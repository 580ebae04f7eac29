import { checkPage } from '../harness/checkPage';
import { THREE_SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { openPage, PAGES } from '../harness/pages';
import { test } from '../harness/test';

// `screens` checks every page on all screens, and in both looks.
for (const [index, demoPage] of PAGES.entries()) {
  const { texts: _, ...look } = index % 2 === 0 ? LIGHT : DARK;
  test(`${demoPage.name} is accessible and fits three screens: ${lookName(look)}`, async ({
    visit,
    site,
  }) => {
    const page = await openPage({ visit, site }, demoPage, look);
    await checkPage(page, THREE_SCREENS);
  });
}
