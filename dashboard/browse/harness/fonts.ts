import { join } from 'node:path';
import type { Browser } from 'playwright-core';

/** What a browser of these tests writes with. DejaVu is wide, Noto is narrow. */
export type Fonts = 'dejavu' | 'noto';

const SETS: Record<Fonts, { families: string[]; packages: string }> = {
  dejavu: { families: ['DejaVu Sans', 'DejaVu Sans Mono'], packages: 'fonts-dejavu-core' },
  noto: { families: ['Noto Sans', 'Noto Sans Mono'], packages: 'fonts-noto-core fonts-noto-mono' },
};

/** Only fontconfig can hide the other fonts. Elsewhere the tests take what is installed. */
const CAN_CHOOSE = process.platform === 'linux';

/** The environment in which Chromium sees these fonts and no others. */
export function fontsEnvironment(fonts: Fonts): Record<string, string> {
  return CAN_CHOOSE ? { FONTCONFIG_FILE: join(import.meta.dirname, `../fonts/${fonts}.conf`) } : {};
}

/** Fails unless the browser really writes with them. */
export async function requireFonts(browser: Browser, fonts: Fonts) {
  if (!CAN_CHOOSE) return;
  const { families, packages } = SETS[fonts];
  const used = await usedFonts(browser);
  if (families.every((family, index) => used[index] === family)) return;
  throw new Error(
    `Chromium writes with ${used.map((family) => family ?? 'no font').join(' and ')} ` +
      `instead of ${families.join(' and ')}. Install the fonts (Debian and Ubuntu: apt-get install ${packages}).`,
  );
}

/** The families of ordinary text and of code. */
async function usedFonts(browser: Browser): Promise<(string | undefined)[]> {
  const page = await browser.newPage();
  await page.setContent(
    '<p style="font-family: sans-serif">Text</p><p style="font-family: monospace">Code</p>',
  );
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('DOM.enable');
  await devtools.send('CSS.enable');
  const { root } = await devtools.send('DOM.getDocument');
  const { nodeIds } = await devtools.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'p' });
  const used = [];
  for (const nodeId of nodeIds) {
    const { fonts } = await devtools.send('CSS.getPlatformFontsForNode', { nodeId });
    used.push(fonts[0]?.familyName);
  }
  await page.close();
  return used;
}
