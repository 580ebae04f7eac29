import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { ANA, open } from '../harness/pages';
import { test } from '../harness/test';

const PICTURE = resolve(import.meta.dirname, '../../../docs/dashboard.png');
const MAX_BYTES = 150_000;

test('takes the picture of the overview for the documentation', async ({ visit }) => {
  const page = await visit({ as: ANA });
  await open(page, '/');
  await page.screenshot({ path: PICTURE });
  expect((await stat(PICTURE)).size).toBeLessThan(MAX_BYTES);
});
