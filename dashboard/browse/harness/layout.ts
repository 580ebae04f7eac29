import type { Page } from 'playwright-core';

/** A size of the window, and how far its content is enlarged. */
export interface Screen {
  width: number;
  height: number;
  zoom?: number;
}

/** Resizes the page. A zoom makes the window smaller in CSS pixels, and each of them larger, as in a browser. */
export async function resize(page: Page, { width, height, zoom = 1 }: Screen) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setDeviceMetricsOverride', {
    width: Math.round(width / zoom),
    height: Math.round(height / zoom),
    deviceScaleFactor: zoom,
    mobile: false,
  });
  await devtools.detach();
  // The page measures itself after layout.
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  });
}

/** Controls and texts that are cut off at the side, by the screen or by an element around them. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const TOLERANCE = 1;
    const { clientWidth } = document.documentElement;
    const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true });
    const nameOf = (element: Element) =>
      element.getAttribute('aria-label') ??
      (element.textContent?.trim().slice(0, 40) || element.outerHTML.slice(0, 80));

    /** Where an element can be seen: the screen, or an element that clips. `undefined` if a part can be scrolled to. */
    const windowOf = (element: Element): { left: number; right: number } | undefined => {
      for (let around: Element | null = element; around; around = around.parentElement) {
        const { overflowX, textOverflow, webkitLineClamp, position } = getComputedStyle(around);
        if (overflowX === 'auto' || overflowX === 'scroll') return undefined;
        const isShortened = textOverflow === 'ellipsis' || webkitLineClamp !== 'none';
        const box = around.getBoundingClientRect();
        if (overflowX !== 'visible' && around !== document.body && around !== document.documentElement)
          return isShortened ? undefined : box;
        if (position === 'fixed') break;
      }
      return { left: 0, right: clientWidth };
    };
    const isCut = (box: DOMRect, element: Element) => {
      if (box.width === 0) return false;
      const visible = windowOf(element);
      return visible && (box.left < visible.left - TOLERANCE || box.right > visible.right + TOLERANCE);
    };

    const controls = [...document.querySelectorAll('a[href], button, input, textarea, summary')]
      .filter((control) => isSeen(control) && control.parentElement)
      .filter((control) => isCut(control.getBoundingClientRect(), control.parentElement ?? control))
      .map((control) => `control: ${nameOf(control)}`);

    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element || !node.textContent?.trim() || !isSeen(element)) continue;
      // Only read aloud.
      if (element.getBoundingClientRect().width <= TOLERANCE) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const boxes = [...range.getClientRects()];
      const label = element.closest('button, .mantine-Badge-root');
      const leaves = (box: DOMRect) => label && box.right > label.getBoundingClientRect().right + TOLERANCE;
      const isShortened = getComputedStyle(element).textOverflow === 'ellipsis';
      if (boxes.some((box) => isCut(box, element) || (!isShortened && leaves(box))))
        texts.push(`text: ${node.textContent.trim().slice(0, 40)}`);
    }
    return [...controls, ...texts];
  });
}

/** Controls that a click on their middle does not reach, after scrolling to them. */
export function coveredControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const controls = [...document.querySelectorAll('a[href], button, input, textarea, summary')];
    const isReachable = (control: Element) => {
      const input = control instanceof HTMLInputElement ? control : undefined;
      const box = () => [...control.getClientRects()].find(({ width, height }) => width > 1 && height > 1);
      // A switch or a segment is clicked by its label.
      const target = (!box() && input?.labels?.[0]) || control;
      target.scrollIntoView({ block: 'center', inline: 'nearest' });
      const [first] = target.getClientRects();
      if (!first) return true;
      const x = first.left + first.width / 2;
      const y = Math.min(Math.max(first.top + first.height / 2, 1), window.innerHeight - 1);
      const hit = document.elementFromPoint(x, y);
      return (
        hit !== null &&
        (target.contains(hit) || [...(input?.labels ?? [])].some((label) => label.contains(hit)))
      );
    };
    return (
      controls
        .filter((control) => control.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        // The link to the content appears when it has the focus.
        .filter((control) => control.getAttribute('href') !== '#main')
        .filter((control) => !isReachable(control))
        .map((control) => control.getAttribute('aria-label') ?? control.outerHTML.slice(0, 120))
    );
  });
}
