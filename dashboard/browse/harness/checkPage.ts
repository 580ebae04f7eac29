import type { Page } from '@playwright/test';
import { violations } from './accessibility';
import { coveredControls, cutOff, lasting, resize, type Screen, screenName } from './layout';
import { horizontalOverflow } from './scrolling';
import { expect } from './test';

/** The widths at which accessibility is checked: a phone and a desktop. */
export const ACCESSIBILITY_WIDTHS = [390, 1280];

/** Checks that an open page has its own title, fits these screens, and is accessible on those of these widths. */
export async function checkPage(page: Page, screens: Screen[], accessibilityWidths = ACCESSIBILITY_WIDTHS) {
  const heading = await page.getByRole('heading', { level: 1 }).innerText();
  // So pages with other headings have other titles.
  expect((await page.title()).split(' · ').slice(-2)).toEqual([heading, 'Keymeter']);
  const found: string[] = [];
  const report = (where: string, problems: string[]) =>
    found.push(...problems.map((problem) => `${where}: ${problem}`));
  for (const screen of screens) {
    await resize(page, screen);
    const where = screenName(screen);
    report(where, await lasting(() => misfits(page)));
    if (!screen.zoom && accessibilityWidths.includes(screen.width))
      report(where, await violations(page.locator('html')));
  }
  report('covered', await lasting(() => coveredControls(page.locator('html'))));
  expect(found).toEqual([]);
}

/** What does not fit the screen. */
async function misfits(page: Page): Promise<string[]> {
  const overflow = await horizontalOverflow(page);
  const wide = overflow > 0 ? [`${overflow} pixels wider than the screen`] : [];
  return [...wide, ...(await cutOff(page.locator('html')))];
}
