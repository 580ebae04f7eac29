import { type AxeResults, type RunOptions, source } from 'axe-core';
import type { Locator, Page } from 'playwright-core';

const RULES: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
};

/** What axe finds there against WCAG 2, A and AA: the rule and where. */
export async function violations(thing: Locator): Promise<string[]> {
  await provideAxe(thing.page());
  const results = await thing.evaluate<AxeResults, RunOptions>((element, rules) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    return axe.run(element, rules);
  }, RULES);
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  );
}

async function provideAxe(page: Page) {
  const isThere = await page.evaluate(() => 'axe' in window);
  // Not as a script of the page, which its Content-Security-Policy would forbid.
  if (!isThere) await page.evaluate(source);
}
