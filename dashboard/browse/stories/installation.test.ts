import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { violations } from '../harness/accessibility';
import { asRoot, createUser } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const NAME = 'Ships & Co.';

/** Its script must not run, however it is opened. */
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="48" onload="document.title='ran'">
  <rect width="96" height="48" fill="#12727b"/><script>document.title = 'ran'</script></svg>`;

test('the sign-in page says which installation this is, and whom to ask', async ({ visit, startServer }) => {
  const directory = await mkdtemp(join(tmpdir(), 'keymeter-browse-logo-'));
  const logo = join(directory, 'logo.svg');
  await writeFile(logo, LOGO);
  const server = await startServer({
    settings: {
      KEYMETER_DASHBOARD__NAME: NAME,
      KEYMETER_DASHBOARD__LOGO: logo,
      KEYMETER_ACCOUNTS__CONTACT: 'keys@ships.example',
      KEYMETER_ACCOUNTS__REGISTRATION: 'open',
    },
  });
  const page = await visit({ site: server.url, path: '/sign-in' });
  const image = page.getByRole('img', { name: NAME });
  await visible(image, page.getByText('Forgot your password? Ask'));
  await eventually(() => image.evaluate((it: HTMLImageElement) => it.naturalWidth)).toBe(96);
  await eventually(() => page.title()).toBe(`Sign in · ${NAME}`);
  const contact = page.getByRole('link', { name: 'keys@ships.example' });
  expect(await contact.getAttribute('href')).toBe('mailto:keys@ships.example');
  expect(await violations(page.locator('html'))).toEqual([]);
  await hidden(page.getByText('Keymeter'));
  await page.getByRole('link', { name: 'Create one' }).click();
  await visible(page.getByRole('heading', { name: 'Create an account' }), image, contact);

  const ida = await createUser(await asRoot(server.url), 'ida');
  const inside = await visit({ site: server.url, as: ida, path: '/keys' });
  await visible(inside.getByRole('link', { name: NAME }));
  await eventually(() => inside.title()).toBe(`Keys · ${NAME}`);
  expect(await violations(inside.getByRole('banner'))).toEqual([]);
  await inside.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(inside)).toBe(0);

  // The policy of the file reports what it stops.
  const opened = await visit({ site: server.url, path: '/dashboard-logo', expected: [/./] });
  expect(await opened.evaluate(() => document.documentElement.localName)).toBe('svg');
  expect(await opened.title()).not.toBe('ran');
  await rm(directory, { recursive: true, force: true });
});
