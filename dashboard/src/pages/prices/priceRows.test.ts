import { describe, expect, it } from 'vitest';
import type { Price } from '../../api/prices';
import { rowsOf, usefulRates, withName } from './priceRows';

function price(model: string, changes: Partial<Price> = {}): Price {
  const rates = { prompt: '5', completion: '30', cached: '5', cache_write: '5' };
  return { model, ...rates, request: '0', above: null, ...changes };
}

const above = { prompt_tokens: 272_000, prompt: '10', completion: '45', cached: '1', cache_write: '10' };

describe('rowsOf', () => {
  it('has two rows for a model with other rates for long prompts', () => {
    const rows = rowsOf([price('o3'), price('gpt-5.5*', { request: '0.01', above })]);
    expect(rows.map(({ model, prompt, request, prompts }) => [model, prompt, request, prompts])).toEqual([
      ['o3', '5', '0', undefined],
      ['gpt-5.5*', '5', '0.01', { of: 'at_most', tokens: 272_000 }],
      ['gpt-5.5*', '10', '0.01', { of: 'more_than', tokens: 272_000 }],
    ]);
  });
});

describe('withName', () => {
  const prices = [price('gpt-5.5*'), price('gpt-5.5-mini'), price('o3')];

  it.each([
    ['', ['gpt-5.5*', 'gpt-5.5-mini', 'o3']],
    [' GPT ', ['gpt-5.5*', 'gpt-5.5-mini']],
    ['mini', ['gpt-5.5-mini']],
    ['gpt-5.5-mini', ['gpt-5.5*', 'gpt-5.5-mini']],
    ['gpt-5.5-nano', ['gpt-5.5*']],
    ['o3-mini', []],
  ])('finds the prices for “%s”', (text, found) => {
    expect(withName(prices, text).map(({ model }) => model)).toEqual(found);
  });
});

describe('usefulRates', () => {
  it.each([
    ['the same for cached tokens', {}, ['prompt', 'completion']],
    ['another for cached tokens', { cached: '0.5' }, ['prompt', 'completion', 'cached']],
    ['another for cache writes', { cache_write: '6' }, ['prompt', 'completion', 'cache_write']],
    ['one for requests', { request: '0.01' }, ['prompt', 'completion', 'request']],
    ['another for cached tokens of long prompts', { above }, ['prompt', 'completion', 'cached']],
  ])('with %s', (_, changes, names) => {
    expect(usefulRates([price('o3'), price('gpt', changes)])).toEqual(names);
  });
});
