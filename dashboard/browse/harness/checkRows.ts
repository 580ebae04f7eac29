import { type Api, createUser, newKey, ROOT, signedIn } from './accounts';
import { eventually } from './eventually';
import { lasting } from './layout';
import { settled } from './pages';
import { hiddenControls, horizontalOverflow } from './scrolling';
import { expect, type Visit } from './test';

interface CheckFixtures {
  visit: Visit;
  root: Api;
  site: string;
}

/** Checks that the controls of every row are in view at these widths. */
export async function checkRows({ visit, root, site }: CheckFixtures, widths: number[]) {
  const una = await createUser(root, 'una-with-a-long-name');
  const owner = await signedIn(site, una);
  for (const name of ['Website', 'A name of several words and about fifty letters']) {
    await newKey(owner, name, {
      note: 'A note that says what this key is used for',
      period_limits: { day: 5_000_000 },
    });
  }
  const lists = [
    { as: una, path: '/keys', name: 'Your keys' },
    { as: ROOT, path: '/admin/users', name: 'Users' },
    { as: ROOT, path: '/admin/tokens', name: 'All keys' },
  ];
  for (const { as, path, name } of lists) {
    const page = await visit({ as, path });
    await settled(page);
    const list = page.getByRole('table', { name }).or(page.getByRole('list', { name }));
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await settled(page);
      const where = `${path} at ${width} pixels`;
      expect.soft(await lasting(() => hiddenControls(list)), where).toEqual([]);
      await eventually(() => horizontalOverflow(page), `${where} is wider than the screen`).toBe(0);
    }
  }
}
