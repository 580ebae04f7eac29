import { describe, expect, it } from 'vitest';
import { addPriceHref, convertCommand, priceSetting } from './addPrice';

describe('how to add a price', () => {
  it('is on the page of prices, for a model if it is known', () => {
    expect(addPriceHref('a/b&c')).toBe('/prices?add=a%2Fb%26c');
    expect(addPriceHref(null)).toBe('/prices');
  });

  it('leaves the rates of a model to be filled in', () => {
    expect(priceSetting('o3')).toBe('[prices]\n"o3" = { prompt = "…", completion = "…" }');
    expect(priceSetting('a "b"')).toContain('"a \\"b\\"" = {');
  });

  it('has an example without a model', () => {
    expect(priceSetting('')).toBe(
      '[prices]\n"gpt-5.5*" = { prompt = "5", completion = "30", cached = "0.5" }',
    );
  });

  it('quotes the model for the shell', () => {
    expect(convertCommand('it’s $HOME')).toMatch(/ --only 'it’s \$HOME'$/);
    expect(convertCommand("it's")).toMatch(/ --only 'it'\\''s'$/);
  });
});
