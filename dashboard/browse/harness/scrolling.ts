import type { Page } from 'playwright-core';

interface Scrolling {
  /** Everything that scrolls, by its name or else by its element. */
  all: string[];
  /** What of it the Tab key does not reach, or reaches without a name for it. */
  unreachable: string[];
}

/** By how much the page is wider than the screen. */
export function horizontalOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** What scrolls once all text is twice as large, so that whatever may scroll does. */
export async function enlargedScrolling(page: Page): Promise<Scrolling> {
  await page.evaluate(async () => {
    document.documentElement.style.fontSize = '200%';
    // The page notices what scrolls after it is laid out.
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  });
  const found = await scrolling(page);
  await page.evaluate(() => document.documentElement.style.removeProperty('font-size'));
  return found;
}

/** Chromium lets the keyboard into everything that scrolls; other browsers go by what the page says, as this does. */
function scrolling(page: Page): Promise<Scrolling> {
  return page.evaluate(() => {
    const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true });
    const scrolls = (element: Element) => {
      const { overflowX, overflowY } = getComputedStyle(element);
      const may = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
      return (
        (may(overflowX) && element.scrollWidth > element.clientWidth) ||
        (may(overflowY) && element.scrollHeight > element.clientHeight)
      );
    };
    const isStop = (element: Element) =>
      element instanceof HTMLElement &&
      element.tabIndex >= 0 &&
      !element.matches(':disabled') &&
      isSeen(element);
    const isReachable = (element: Element) =>
      isStop(element)
        ? element.matches('input, textarea, [role][aria-label], [role][aria-labelledby]')
        : [...element.querySelectorAll('*')].some(isStop);
    const labelOf = (element: Element) =>
      element.getAttribute('aria-label') ?? `${element.localName}.${element.className}`;

    const all = [...document.body.querySelectorAll('*')].filter(
      (element) => isSeen(element) && scrolls(element),
    );
    return {
      all: all.map(labelOf),
      unreachable: all.filter((element) => !isReachable(element)).map(labelOf),
    };
  });
}
