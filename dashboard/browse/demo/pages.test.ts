import { ACCESSIBILITY_WIDTHS, checkPage } from '../harness/checkPage';
import { THREE_SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { openPage, PAGES } from '../harness/pages';
import { test } from '../harness/test';

// `screens` checks every page on all screens, in both looks, and with axe on a phone and a desktop. Here axe checks a page
// on one of them: it takes longer than the rest.
for (const [index, demoPage] of PAGES.entries()) {
  const { texts: _, ...look } = index % 2 === 0 ? LIGHT : DARK;
  test(`${demoPage.name} is accessible and fits three screens: ${lookName(look)}`, async ({
    visit,
    site,
  }) => {
    const page = await openPage({ visit, site }, demoPage, look);
    const widths = ACCESSIBILITY_WIDTHS.filter((_, number) => number === (index >> 1) % 2);
    await checkPage(page, THREE_SCREENS, widths);
  });
}
