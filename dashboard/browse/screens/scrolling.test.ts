import type { Page } from '@playwright/test';
import { lasting, resize } from '../harness/layout';
import { openNextPage, openPage, PAGES } from '../harness/pages';
import { enlargedScrolling, horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { visible } from '../harness/visibility';

const USAGE_TABLES = ['Spend by day', 'Usage by day'];

/** Lists do not scroll: where a table would, they are cards. */
const SCREENS = [
  { width: 320, height: 480, scrolls: USAGE_TABLES },
  { width: 800, height: 480, scrolls: USAGE_TABLES },
  { width: 1920, height: 480, scrolls: ['Usage by day'] },
];

/** The size at which a page is opened. */
const DESKTOP = { width: 1280, height: 800 };

/** There are many pages. */
const TIMEOUT_MS = 600_000;

test('scrolling elements are focusable', async ({ visit, site }) => {
  test.setTimeout(TIMEOUT_MS);
  const found: string[] = [];
  const seen = new Map(SCREENS.map(({ width }) => [width, new Set<string>()]));
  // One page for each user: a new one would load and compile all scripts again.
  const pages = new Map<string, Page>();
  for (const demoPage of PAGES) {
    const { name, as = 'nobody' } = demoPage;
    const before = pages.get(as);
    const page = before ?? (await openPage({ visit, site }, demoPage, { fonts: 'dejavu' }));
    pages.set(as, page);
    if (before) {
      await resize(before, DESKTOP);
      await openNextPage(before, site, demoPage);
    }
    const table = page.getByRole('main').getByText('Table', { exact: true });
    if (name === 'overview') await visible(table);
    if (await table.isVisible()) await table.click();
    for (const screen of SCREENS) {
      await resize(page, screen);
      const where = `${name}, as ${as} sees it, ${screen.width} pixels`;
      const overflow = await lasting(async () => ((await horizontalOverflow(page)) > 0 ? ['wider'] : []));
      if (overflow.length > 0) found.push(`${where}: wider than the screen`);
      const { all, unreachable } = await enlargedScrolling(page);
      for (const thing of all) seen.get(screen.width)?.add(thing);
      found.push(...unreachable.map((thing) => `${where}: ${thing}`));
    }
  }
  expect(found).toEqual([]);
  for (const { width, scrolls } of SCREENS)
    expect([...(seen.get(width) ?? [])], `${width} pixels`).toEqual(expect.arrayContaining(scrolls));
});
