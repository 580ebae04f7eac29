import type { Browser, BrowserType } from '@playwright/test';
import { findProgram } from './findProgram';
import { type Fonts, fontsEnvironment, requireFonts } from './fonts';

/** Browsers trust 127.0.0.1. By this name, a page is one over plain HTTP from another machine. */
export const PLAIN_HTTP_HOST = 'keys.plain-http.test';

function findChromium(): string {
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  const found = process.env.CHROMIUM || findProgram(names);
  if (found) return found;
  throw new Error(
    'Chromium not found. Install it (Debian: apt-get install chromium-headless-shell; macOS: brew install chromium), ' +
      'or set CHROMIUM to the program.',
  );
}

/** The browser with these fonts. It starts on first use. */
export type BrowserWith = (fonts: Fonts) => Promise<Browser>;

export async function launchChromium(chromium: BrowserType, fonts: Fonts): Promise<Browser> {
  // The sandbox does not work in many containers. The browser only opens the test server.
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      `--host-resolver-rules=MAP ${PLAIN_HTTP_HOST} 127.0.0.1`,
    ],
    env: { ...process.env, ...fontsEnvironment(fonts) },
  });
  try {
    await requireFonts(browser, fonts);
    return browser;
  } catch (error) {
    await browser.close();
    throw error;
  }
}
