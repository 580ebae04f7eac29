import type { Locator, Page } from '@playwright/test';
import { violations } from '../../harness/accessibility';
import {
  coveredControls,
  cutOff,
  lasting,
  resize,
  SCREENS,
  type Screen,
  screenName,
} from '../../harness/layout';
import type { Look } from '../../harness/looks';
import { enlargedScrolling, horizontalOverflow } from '../../harness/scrolling';
import { hidden, visible } from '../../harness/visibility';
import type { DialogComponent } from './components';

const DESKTOP = { width: 1280, height: 800 };

/** The widths at which accessibility is checked, because that takes longer than the rest. */
const ACCESSIBILITY_WIDTHS = [320, DESKTOP.width];

const MARK = 'data-under-test';
const MAX_CLICKS = 3;
const PAUSE_MS = 1000;

interface CloseBy {
  /** The name of the button that closes the dialog. */
  button: string;
}

/** Of two screens with the same zoom, only the smaller one, because a dialog is smaller than a page. */
const DIALOG_SCREENS = SCREENS.filter(({ width, zoom }) => !zoom || width === DESKTOP.width);

/** Checks open dialogs and menus: each is resized to all screens while it is open. */
export class DialogWalk {
  readonly problems: string[] = [];
  /** The titles that were checked of each component. */
  private readonly checked = new Map<DialogComponent, Set<string>>();

  constructor(readonly look: Look) {}

  /** How many dialogs of this component were checked. */
  countOf(component: DialogComponent): number {
    return this.checked.get(component)?.size ?? 0;
  }

  /** Checks an open dialog and closes it. */
  async dialog(page: Page, component: DialogComponent, title: string, closeBy?: CloseBy) {
    const dialog = page.getByRole('dialog', { name: title });
    await visible(dialog);
    await this.check(dialog, component, title);
    const { close } = this.look.texts.common;
    await dialog.getByRole('button', { name: closeBy?.button ?? close, exact: true }).click();
    await hidden(dialog);
  }

  /** Opens the menu of a button, checks it and leaves it open. */
  async menu(page: Page, component: DialogComponent, name: string) {
    const menu = page.getByRole('menu');
    const button = page.getByRole('button', { name, exact: true });
    // It closes if the resized page replaces its button, and is hidden if the button has moved away.
    const open = async () => {
      for (let tries = 0; tries < MAX_CLICKS && !(await menu.isVisible()); tries += 1) {
        await button.click();
        await menu.waitFor({ timeout: PAUSE_MS }).catch(() => {});
      }
      await visible(menu);
    };
    await this.check(menu, component, name, open);
    await open();
  }

  /** Checks something on all screens. `show` makes it visible, also again on another screen. */
  async check(thing: Locator, component: DialogComponent, title: string, show = () => visible(thing)) {
    this.checked.set(component, (this.checked.get(component) ?? new Set()).add(title));
    const page = thing.page();
    const screensOf = new Map<string, string[]>();
    for (const screen of DIALOG_SCREENS) {
      await resize(page, screen);
      await show();
      const marked = await mark(thing);
      const problems = [...(await lasting(() => misfits(marked))), ...(await barriers(screen, marked))];
      for (const problem of problems)
        screensOf.set(problem, [...(screensOf.get(problem) ?? []), screenName(screen)]);
    }
    for (const [problem, screens] of screensOf)
      this.problems.push(`“${title}”: ${problem} (${screens.join('; ')})`);
    await page.evaluate((name) => document.querySelector(`[${name}]`)?.removeAttribute(name), MARK);
    await resize(page, DESKTOP);
  }
}

/** Marks an element. Finding it by the mark is faster than by its role and name. */
async function mark(thing: Locator): Promise<Locator> {
  const marked = thing.page().locator(`[${MARK}]`);
  if ((await marked.count()) === 1) return marked;
  await thing.evaluate((element, name) => element.setAttribute(name, ''), MARK);
  return marked;
}

/** What does not fit the screen. */
async function misfits(thing: Locator): Promise<string[]> {
  const overflow = await horizontalOverflow(thing.page());
  const hiddenPixels = await thing.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  return [
    ...(overflow > 0 ? ['the page is wider than the screen'] : []),
    ...(hiddenPixels > 0 ? ['its content is wider'] : []),
    ...(await cutOff(thing)),
    ...(await coveredControls(thing)).map((control) => `covered: ${control}`),
  ];
}

/** What people who use a keyboard or a screen reader cannot use. */
async function barriers({ width, zoom }: Screen, thing: Locator): Promise<string[]> {
  if (zoom || !ACCESSIBILITY_WIDTHS.includes(width)) return [];
  const found = await violations(thing);
  if (width !== DESKTOP.width) return found;
  // Last, because it can close a menu.
  const { unreachable } = await enlargedScrolling(thing.page());
  return [...found, ...unreachable.map((name) => `cannot be scrolled: ${name}`)];
}
