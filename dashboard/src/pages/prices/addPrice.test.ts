import { describe, expect, it } from 'vitest';
import { addPriceHref, priceFile } from './addPrice';

describe('how to add a price', () => {
  it('is on the page of prices, for a model if it is known', () => {
    expect(addPriceHref('a/b&c')).toBe('/prices?add=a%2Fb%26c');
    expect(addPriceHref(null)).toBe('/prices');
  });

  it('leaves the rates of a model to be filled in', () => {
    expect(priceFile('o3')).toBe(
      '{\n  "models": {\n    "o3": { "input_mtok": "…", "output_mtok": "…" }\n  }\n}',
    );
    const named = 'a "b" \\ it’s';
    expect(JSON.parse(priceFile(named)).models).toEqual({ [named]: { input_mtok: '…', output_mtok: '…' } });
  });

  it('has an example without a model', () => {
    expect(JSON.parse(priceFile(''))).toEqual({
      models: { 'gpt-5.5*': { input_mtok: '5', output_mtok: '30', cache_read_mtok: '0.5' } },
    });
  });
});
