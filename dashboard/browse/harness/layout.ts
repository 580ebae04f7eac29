import { setTimeout } from 'node:timers/promises';
import type { CDPSession, Locator, Page } from '@playwright/test';

/** A size of the window, and how far its content is enlarged. */
export interface Screen {
  width: number;
  height: number;
  zoom?: number;
}

/** A phone, a tablet and a laptop, on which `make test` checks. */
export const THREE_WIDTHS = [390, 768, 1280];

/** Phones, tablets, laptops and large screens, on which `make test-all` checks. */
export const WIDTHS = [320, 390, 768, 860, 1024, 1180, 1280, 1440, 1920];

const zoomed = (zoom: number): Screen[] => [
  { width: 1440, height: 900, zoom },
  { width: 1280, height: 800, zoom },
];

const ofWidth = (width: number): Screen => ({ width, height: 800 });

export const THREE_SCREENS: Screen[] = THREE_WIDTHS.map(ofWidth);

/** The last one is the smallest enlarged one. */
export const SCREENS: Screen[] = [...WIDTHS.map(ofWidth), ...zoomed(1.25), ...zoomed(2)];

export function screenName({ width, zoom }: Screen): string {
  return `${width} pixels, zoom ${zoom ?? 1}`;
}

/** The size of a page is reset when its session ends. */
const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Resizes the page. A zoom makes the window smaller in CSS pixels, and each of them larger, as in a browser. */
export async function resize(page: Page, { width, height, zoom = 1 }: Screen) {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const size = { width: Math.round(width / zoom), height: Math.round(height / zoom) };
  const metrics = { ...size, deviceScaleFactor: zoom, mobile: false };
  await (await session).send('Emulation.setDeviceMetricsOverride', metrics);
  // The page measures itself after layout.
  const actual = await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    return { width: window.innerWidth, height: window.innerHeight };
  });
  if (actual.width !== size.width || actual.height !== size.height)
    throw new Error(`the page has ${actual.width} × ${actual.height} pixels`);
}

const MAX_TRIES = 20;
const PAUSE_MS = 100;

/** What is found on a page, unless it is gone soon: parts of the page move for a moment after it is resized. */
export async function lasting(find: () => Promise<string[]>): Promise<string[]> {
  let found = await find();
  for (let tries = 1; found.length > 0 && tries < MAX_TRIES; tries += 1) {
    await setTimeout(PAUSE_MS);
    found = await find();
  }
  return found;
}

/** Controls and texts in an element that are cut off, by the screen or by an element around them. */
export function cutOff(scope: Locator): Promise<string[]> {
  return scope.evaluate((scopeElement) => {
    const TOLERANCE = 1;
    const { clientWidth } = document.documentElement;
    const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true });
    const nameOf = (element: Element) =>
      element.getAttribute('aria-label') ??
      (element.textContent?.trim().slice(0, 40) || element.outerHTML.slice(0, 80));

    type Edges = Record<'left' | 'right' | 'top' | 'bottom', number>;
    const screen: Edges = { left: 0, right: clientWidth, top: -Infinity, bottom: Infinity };
    const known = new Map<Element, Edges>();

    /** Where an element can be seen: the screen, or an element that clips. An edge is infinite if one can scroll there. */
    const edgesOf = (element: Element): Edges => {
      const before = known.get(element);
      if (before) return before;
      const edges = findEdges(element);
      known.set(element, edges);
      return edges;
    };
    const findEdges = (element: Element): Edges => {
      if (element === document.body || element === document.documentElement) return screen;
      const { overflowX, overflowY, textOverflow, webkitLineClamp, position } = getComputedStyle(element);
      const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
      // A dialog scrolls up and down only.
      const isDialog = element.matches('[role="dialog"]');
      const isShortened = textOverflow === 'ellipsis' || webkitLineClamp !== 'none';
      const box = element.getBoundingClientRect();
      const around = position === 'fixed' || !element.parentElement ? screen : edgesOf(element.parentElement);
      const edges = { ...around };
      if (overflowX !== 'visible') {
        const isEndless = isShortened || (scrolls(overflowX) && !isDialog);
        edges.left = isEndless ? -Infinity : Math.max(around.left, box.left);
        edges.right = isEndless ? Infinity : Math.min(around.right, box.right);
      }
      if (overflowY !== 'visible') {
        const isEndless = isShortened || scrolls(overflowY);
        edges.top = isEndless ? -Infinity : Math.max(around.top, box.top);
        edges.bottom = isEndless ? Infinity : Math.min(around.bottom, box.bottom);
      }
      return edges;
    };
    const isCut = (box: DOMRect, element: Element) => {
      if (box.width === 0 || box.height === 0) return false;
      const { left, right, top, bottom } = edgesOf(element);
      // Boxes of text are higher than its letters.
      const above = Math.max(TOLERANCE, box.height / 4);
      return (
        box.left < left - TOLERANCE ||
        box.right > right + TOLERANCE ||
        box.top < top - above ||
        box.bottom > bottom + above
      );
    };

    const controls = [...scopeElement.querySelectorAll('a[href], button, input, textarea, summary')]
      .filter((control) => isSeen(control) && control.parentElement)
      .filter((control) => isCut(control.getBoundingClientRect(), control.parentElement ?? control))
      .map((control) => `control: ${nameOf(control)}`);

    const texts = [];
    const walker = document.createTreeWalker(scopeElement, NodeFilter.SHOW_TEXT);
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

/** Controls in an element that a click on their middle does not reach, after scrolling to them. */
export function coveredControls(scope: Locator): Promise<string[]> {
  return scope.evaluate((scopeElement) => {
    const controls = [
      ...scopeElement.querySelectorAll('a[href], button, input, textarea, summary, [role="option"]'),
    ];
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
