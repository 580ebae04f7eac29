import { expect } from 'vitest';
import { allPages, missing, open } from '../harness/pages';
import { enlargedScrolling, horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';
import { visible } from '../harness/visibility';

const USAGE_TABLES = ['Spend by day', 'Usage by day'];

/** The first two screens show lists as cards, the third as tables. */
const SCREENS = [
  { width: 320, height: 480, scrolls: USAGE_TABLES },
  { width: 800, height: 480, scrolls: USAGE_TABLES },
  { width: 1920, height: 480, scrolls: ['Your keys', 'Users', 'All keys'] },
];

for (const { scrolls, ...screen } of SCREENS) {
  test(`scrolling elements are focusable on a screen of ${screen.width} pixels`, async ({ visit, site }) => {
    const seen = new Set<string>();
    for (const { who, as, pages } of await allPages(site)) {
      const page = await visit({ as, fonts: 'dejavu', expected: missing });
      await page.setViewportSize(screen);
      for (const [name, path] of pages) {
        await open(page, path);
        if (name === 'overview') {
          await page.getByText('Table', { exact: true }).click();
          await visible(page.getByRole('table', { name: 'Spend by day' }));
        }
        expect.soft(await horizontalOverflow(page), `${name} is wider than the screen`).toBe(0);
        const { all, unreachable } = await enlargedScrolling(page);
        for (const thing of all) seen.add(thing);
        expect.soft(unreachable, `${name}, as ${who} sees it`).toEqual([]);
      }
    }
    expect([...seen]).toEqual(expect.arrayContaining(scrolls));
  });
}
