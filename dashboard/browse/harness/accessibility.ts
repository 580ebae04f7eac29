import type { Locator, Page } from '@playwright/test';
import axeCore, { type AxeResults, type RunOptions } from 'axe-core';

const RULES: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
};

/** The violations of WCAG 2 A and AA that axe finds: rule and element. */
export async function violations(thing: Locator): Promise<string[]> {
  await loadAxe(thing.page());
  const results = await thing.evaluate<AxeResults, RunOptions>(async (element, rules) => {
    // What fades in has too little contrast until it is there.
    const fading = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    await Promise.allSettled(fading.map(({ finished }) => finished));
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    return axe.run(element, rules);
  }, RULES);
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`),
  );
}

async function loadAxe(page: Page) {
  const isThere = await page.evaluate(() => 'axe' in window);
  // Not a script element, because the Content-Security-Policy of the page forbids it.
  if (!isThere) await page.evaluate(axeCore.source);
}
