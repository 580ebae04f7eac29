import { expect } from 'vitest';
import { allPages, missing, open, settled } from '../harness/pages';
import { test } from '../harness/test';

test('every page has its own URL and title, and survives a reload', async ({ visit, site }) => {
  const titles = new Map<string, string>();
  for (const { as, pages } of await allPages(site)) {
    const page = await visit({ as, expected: missing });
    for (const [name, path] of pages) {
      await open(page, path);
      const heading = await page.getByRole('heading', { level: 1 }).innerText();
      await page.reload();
      await settled(page);
      expect(page.url()).toBe(site + path);
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(heading);
      const title = await page.title();
      expect(title, name).toContain(heading);
      titles.set(heading, title);
    }
  }
  expect(new Set(titles.values()).size).toBe(titles.size);
});
