import type { Page } from '@playwright/test';
import { en } from '../../src/texts/en';
import { zh } from '../../src/texts/zh';
import { createUser } from '../harness/accounts';
import { expect, test } from '../harness/test';
import { visible } from '../harness/visibility';

test('the dashboard speaks the language of the browser until the user chooses another', async ({
  visit,
  root,
}) => {
  const lin = await createUser(root, 'lin');
  const page = await visit({ locale: 'zh-CN', expected: [/^401 POST \/api\/user\/login$/] });
  await visible(page.getByRole('heading', { name: zh.signIn.title }));
  expect(await languagesOf(page)).toEqual({ declared: 'zh-CN', loaded: ['zh'] });

  await page.getByLabel(zh.signIn.username).fill(lin.username);
  await page.getByRole('textbox', { name: zh.signIn.password }).fill('not-this-one');
  await page.getByRole('button', { name: zh.signIn.submit }).click();
  await visible(page.getByText(zh.errors.wrong_credentials));

  await page.getByRole('button', { name: zh.shell.language.label }).click();
  await page.getByRole('menuitemradio', { name: 'English' }).click();
  await visible(page.getByRole('heading', { name: en.signIn.title }));
  expect(await languagesOf(page)).toEqual({ declared: 'en', loaded: ['en'] });

  await page.getByLabel(en.signIn.username).fill(lin.username);
  await page.getByRole('textbox', { name: en.signIn.password }).fill(lin.password);
  await page.getByRole('button', { name: en.signIn.submit }).click();
  await visible(page.getByRole('heading', { name: en.overview.title }));

  await page.getByRole('button', { name: en.shell.account(lin.username) }).click();
  await page.getByRole('menuitemradio', { name: '简体中文' }).click();
  await visible(page.getByRole('heading', { name: zh.overview.title }));
  await page.goto('/keys');
  await visible(page.getByText(zh.keys.empty.title));
  expect(await languagesOf(page)).toEqual({ declared: 'zh-CN', loaded: ['zh'] });
});

test('if a file of the dashboard does not load, the page says so', async ({ visit }) => {
  const page = await visit({ expected: [/^net::ERR_FAILED GET \/assets\/en-/, /^crash: /] });
  await page.route('**/assets/en-*.js', (route) => route.abort());
  await page.reload();
  await visible(page.getByText('Reload the page.'));
});

/** The language that the page declares, and the languages whose texts it has loaded. */
function languagesOf(page: Page) {
  return page.evaluate(() => {
    const files = performance.getEntriesByType('resource').map(({ name }) => name);
    const loaded = files.flatMap((file) => /\/assets\/(en|zh)-[^/]+\.js$/.exec(file)?.[1] ?? []);
    return { declared: document.documentElement.lang, loaded: [...new Set(loaded)] };
  });
}
