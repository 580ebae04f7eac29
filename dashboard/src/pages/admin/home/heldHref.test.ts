import { expect, it } from 'vitest';
import { heldHref } from './heldHref';

it.each([
  ['o3', 'model_not_priced', '/prices?add=o3'],
  [null, 'model_not_priced', '/prices'],
  ['o3', 'no_input', '/admin/usage/requests?outcome=charged&model=o3'],
  [null, 'expired', '/admin/usage/requests?outcome=charged'],
])('charges of %s that were their holds because of %s lead to %s', (model, reason, href) => {
  expect(heldHref({ model, reason })).toBe(href);
});
