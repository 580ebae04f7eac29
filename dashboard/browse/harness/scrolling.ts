import type { Locator, Page } from '@playwright/test';

interface Scrolling {
  /** All elements that scroll, by label or else by tag and class. */
  all: string[];
  /** Elements of `all` that are not focusable or have no label. */
  unreachable: string[];
}

/** How many pixels the page is wider than the screen. */
export function horizontalOverflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** The controls of a list that are outside the screen or covered, without scrolling sideways. */
export function hiddenControls(list: Locator): Promise<string[]> {
  return list.evaluate((element) => {
    const isInView = (control: Element) => {
      const { top, height } = control.getBoundingClientRect();
      window.scrollBy(0, top + height / 2 - window.innerHeight / 2);
      const box = control.getBoundingClientRect();
      const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const { clientWidth } = document.documentElement;
      return box.left >= 0 && box.right <= clientWidth && control.contains(hit);
    };
    const controls = [...element.querySelectorAll('button, input, a[aria-label]')];
    if (controls.length === 0) throw new Error('the list has no controls');
    return controls
      .filter((control) => !isInView(control))
      .map((control) => control.getAttribute('aria-label') ?? control.outerHTML);
  });
}

/** The elements that scroll when text has twice its size, once the page has had time to react to that. */
export async function enlargedScrolling(page: Page): Promise<Scrolling> {
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
  let found: Scrolling;
  let tries = 0;
  do {
    // The page detects overflow after layout.
    await page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    });
    found = await scrolling(page);
    tries += 1;
  } while (found.unreachable.length > 0 && tries < 20);
  await page.evaluate(() => document.documentElement.style.removeProperty('font-size'));
  return found;
}

/** Checks the markup, because Chromium focuses all scrolling elements and other browsers do not. */
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
