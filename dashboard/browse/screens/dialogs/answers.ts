import type { Page } from '@playwright/test';

/** As long as the server allows, without a place to break the line. */
export const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff_of_the_north_1';

/** Replaces names in what the server answers, so that the demo stays as it is. */
export async function replaceNames(page: Page, names: Record<string, string>) {
  await page.route('**/api/**', async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    try {
      const response = await route.fetch();
      let body = await response.text();
      for (const [name, other] of Object.entries(names))
        body = body.replaceAll(JSON.stringify(name), JSON.stringify(other));
      await route.fulfill({ status: response.status(), contentType: 'application/json', body });
    } catch {
      // The page has gone on or was closed.
    }
  });
}

/** Answers a request instead of the server. */
export async function answer(page: Page, method: string, path: string, data: unknown, status = 200) {
  await page.route(path, (route) => {
    if (route.request().method() !== method) return route.fallback();
    const json = status < 400 ? { success: true, message: '', data } : data;
    return route.fulfill({ status, json });
  });
}
