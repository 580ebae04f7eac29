import type { Browser, BrowserType } from '@playwright/test';
import { findProgram } from './findProgram';

function findFirefox(): string {
  const found = process.env.FIREFOX || findProgram(['firefox-esr', 'firefox']);
  if (found) return found;
  throw new Error(
    'Firefox not found. Install it (Debian: apt-get install firefox-esr; macOS: brew install --cask firefox), ' +
      'or set FIREFOX to the program.',
  );
}

/** Starts an installed Firefox, which Playwright drives by WebDriver BiDi. Its channel `firefox` needs a patched one. */
export async function launchFirefox(firefox: BrowserType): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: findFirefox(),
    firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 },
  });
  const session = sessionOf(browser);
  allowNoColorScheme(session);
  await session.send('script.addPreloadScript', { functionDeclaration: String(insertAsTyped) });
  return browser;
}

interface Session {
  send: (method: string, parameters: unknown) => Promise<unknown>;
}

/** The BiDi session of a browser. Reaches into Playwright, whose version `package.json` fixes. */
function sessionOf(browser: Browser): Session {
  const { _connection: connection } = browser as unknown as {
    _connection: { toImpl: (browser: Browser) => { _browserSession: Session } };
  };
  return connection.toImpl(browser)._browserSession;
}

/** Playwright sends every new context a command that Firefox ESR 153 does not have. Without it, pages are light. */
function allowNoColorScheme(session: Session) {
  const send = session.send.bind(session);
  session.send = async (method, parameters) => {
    try {
      return await send(method, parameters);
    } catch (error) {
      const isKnown =
        method === 'emulation.setMediaFeaturesOverride' && String(error).includes('unknown command');
      if (!isKnown) throw error;
    }
  };
}

/** Runs in every page. What Playwright would do instead of it, `fill` sets a value without React noticing. */
function insertAsTyped() {
  Object.defineProperty(window, '__pw_bidiInsertText', {
    get: () => (text: string) => void document.execCommand('insertText', false, text),
    // Playwright sets it later.
    set: () => {},
  });
}
