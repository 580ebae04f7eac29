import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ROOT } from '../harness/accounts';
import { ANA, settled } from '../harness/pages';
import { expect, test } from '../harness/test';

const DOCUMENTS = resolve(import.meta.dirname, '../../../docs');
const MAX_BYTES = 150_000;

const PICTURES = [
  { name: 'dashboard.png', path: '/', as: ANA },
  { name: 'dashboard-dark.png', path: '/admin', as: ROOT, colorScheme: 'dark' },
  { name: 'dashboard-phone.png', path: '/keys', as: ANA, phone: true },
] as const;

for (const { name, ...options } of PICTURES) {
  test(`takes the picture ${name} for the documentation`, async ({ visit }) => {
    const page = await visit(options);
    await settled(page);
    await page.screenshot({ path: `${DOCUMENTS}/${name}`, animations: 'disabled' });
    expect((await stat(`${DOCUMENTS}/${name}`)).size).toBeLessThan(MAX_BYTES);
  });
}
