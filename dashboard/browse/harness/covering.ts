import type { Locator } from '@playwright/test';

/** Returns true if a click on the middle of the element reaches it, so that nothing covers it. */
export function isUncovered(element: Locator): Promise<boolean> {
  return element.evaluate((target) => {
    const { left, top, width, height } = target.getBoundingClientRect();
    return target.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}
