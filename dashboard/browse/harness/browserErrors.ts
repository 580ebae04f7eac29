import type { BrowserContext } from '@playwright/test';

/** The dashboard sends this request to find out whether a user is signed in. */
const ALWAYS_EXPECTED = [/^401 GET \/api\/user\/self$/];

/** How Chromium and Firefox call a request that its page cancelled. */
const CANCELLED = ['net::ERR_ABORTED', 'NS_BINDING_ABORTED'];

/**
 * Collects errors: console errors, crashes, failed or refused requests, and requests to other hosts. Violations of the
 * Content-Security-Policy are console errors.
 */
export function watchForErrors(context: BrowserContext, site: string, expected: RegExp[]): string[] {
  const browserErrors: string[] = [];
  const allowed = [...ALWAYS_EXPECTED, ...expected];
  const report = (error: string) => {
    if (!allowed.some((pattern) => pattern.test(error))) browserErrors.push(error);
  };
  const urlPath = (url: string) => url.replace(site, '');

  context.on('console', (message) => {
    // Refused and failed requests are reported below with their URLs.
    const isRequest = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRequest) report(`console: ${message.text()}`);
  });
  context.on('weberror', (crash) => report(`crash: ${crash.error().message}`));
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== site) report(`another host: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'failed';
    // Pages cancel requests that they no longer need.
    if (!CANCELLED.includes(reason)) report(`${reason} ${request.method()} ${urlPath(request.url())}`);
  });
  context.on('response', (response) => {
    const { status, method, url } = {
      status: response.status(),
      method: response.request().method(),
      url: response.url(),
    };
    if (status >= 400) report(`${status} ${method} ${urlPath(url)}`);
  });
  return browserErrors;
}
