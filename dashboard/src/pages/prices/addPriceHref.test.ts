import { expect, it } from 'vitest';
import { addPriceHref } from './addPriceHref';

it('the page of prices adds the price of a model if it is known', () => {
  expect(addPriceHref('a/b&c')).toBe('/prices?add=a%2Fb%26c');
  expect(addPriceHref(null)).toBe('/prices');
});
