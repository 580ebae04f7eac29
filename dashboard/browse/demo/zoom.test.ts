import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import { coveredControls, cutOff, resize, type Screen } from '../harness/layout';
import { allPages, missing, open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { test, type VisitOptions } from '../harness/test';

/** Phones, tablets, laptops and large screens. */
const WIDTHS = [320, 390, 768, 860, 1024, 1180, 1280, 1440, 1920];

const zoomed = (zoom: number): Screen[] => [
  { width: 1280, height: 800, zoom },
  { width: 1440, height: 900, zoom },
];

/** There are many pages. */
const TIMEOUT_MS = 600_000;

/** Each page is opened once and then resized, because loading takes longer. The last screen is checked in full. */
const LOOKS: (VisitOptions & { screens: Screen[] })[] = [
  {
    colorScheme: 'light',
    locale: 'en-US',
    fonts: 'dejavu',
    screens: [...WIDTHS.map((width) => ({ width, height: 800 })), ...zoomed(2)],
  },
  { colorScheme: 'dark', locale: 'zh-CN', fonts: 'noto', screens: zoomed(1.25) },
];

for (const { screens, ...look } of LOOKS) {
  test(
    `nothing is cut off or covered at any width and zoom: ${look.locale}`,
    async ({ visit, site }) => {
      const found: string[] = [];
      for (const { who, as, pages } of await allPages(site)) {
        const page = await visit({ as, ...look, expected: missing });
        for (const [name, path] of pages) {
          const report = (where: string, problems: string[]) =>
            found.push(...problems.map((problem) => `${name}, as ${who} sees it, ${where}: ${problem}`));
          await open(page, path);
          for (const screen of screens) {
            await resize(page, screen);
            const where = `${screen.width} pixels, zoom ${screen.zoom ?? 1}`;
            const overflow = await horizontalOverflow(page);
            report(where, overflow > 0 ? [`${overflow} pixels wider than the screen`] : []);
            report(where, await cutOff(page));
          }
          report('enlarged, covered', await coveredControls(page));
          // The other look is checked for accessibility without a zoom.
          if (look.colorScheme === 'light') report('enlarged', await violations(page.locator('html')));
        }
      }
      expect(found).toEqual([]);
    },
    TIMEOUT_MS,
  );
}

test('the checks find what is cut off and covered', async ({ visit }) => {
  const page = await visit();
  await page.setContent(`
    <div style="width: 60px; overflow: hidden"><button style="width: 80px">Clipped</button></div>
    <p style="width: 60px; overflow: hidden; white-space: nowrap">A text that is too long</p>
    <p style="width: 60px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">A text with an ellipsis</p>
    <button style="position: absolute; left: calc(100% - 40px); width: 90px">Outside</button>
    <div style="position: relative"><button>Covered</button><div style="position: absolute; inset: 0"></div></div>
    <div style="width: 90px; overflow: auto"><button style="margin-left: 200px">Scrolled</button></div>`);
  expect(await cutOff(page)).toEqual([
    'control: Clipped',
    'control: Outside',
    'text: Clipped',
    'text: A text that is too long',
    'text: Outside',
  ]);
  expect(await coveredControls(page)).toEqual(['<button>Covered</button>']);
});
