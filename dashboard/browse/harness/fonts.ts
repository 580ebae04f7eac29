import { join } from 'node:path';
import type { Browser } from '@playwright/test';

/** Font sets of the tests. DejaVu is wide, Noto is narrow. Both have the same font for Chinese. */
export type Fonts = 'dejavu' | 'noto';

const SETS: Record<Fonts, { families: string[]; packages: string }> = {
  dejavu: { families: ['DejaVu Sans', 'DejaVu Sans Mono'], packages: 'fonts-dejavu-core' },
  noto: { families: ['Noto Sans', 'Noto Sans Mono'], packages: 'fonts-noto-core fonts-noto-mono' },
};

const CHINESE = { family: 'WenQuanYi Micro Hei', packages: 'fonts-wqy-microhei' };

/** Only fontconfig can hide other fonts. Other systems use the installed fonts. */
const CAN_CHOOSE = process.platform === 'linux';

/** Environment variables that limit Chromium to these fonts. */
export function fontsEnvironment(fonts: Fonts): Record<string, string> {
  return CAN_CHOOSE ? { FONTCONFIG_FILE: join(import.meta.dirname, `../fonts/${fonts}.conf`) } : {};
}

/** Throws if the browser does not use these fonts. */
export async function requireFonts(browser: Browser, fonts: Fonts) {
  if (!CAN_CHOOSE) return;
  const families = [...SETS[fonts].families, CHINESE.family];
  const packages = `${SETS[fonts].packages} ${CHINESE.packages}`;
  const used = await usedFonts(browser);
  if (families.every((family, index) => used[index] === family)) return;
  throw new Error(
    `Chromium uses ${used.map((family) => family ?? 'no font').join(', ')} ` +
      `instead of ${families.join(', ')}. Install the fonts (Debian and Ubuntu: apt-get install ${packages}).`,
  );
}

/** The font families of text, code and Chinese text. */
async function usedFonts(browser: Browser): Promise<(string | undefined)[]> {
  const page = await browser.newPage();
  await page.setContent(
    '<p style="font-family: sans-serif">Text</p><p style="font-family: monospace">Code</p>' +
      '<p style="font-family: sans-serif" lang="zh-CN">文字</p>',
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
