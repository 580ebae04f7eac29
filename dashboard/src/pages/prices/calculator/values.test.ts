import { describe, expect, it } from 'vitest';
import type { Price, Rate, Variant } from '../../../api/prices';
import { askedOf, countOf, NO_VALUES, optionsOf, priceOf, requestOf, unitsOf } from './values';

const rate = (unit: string): Rate => ({ unit, usd: '1', per: 1, key: unit, tiers: [] });

const price = (model: string, changes: Partial<Price> = {}): Price => ({
  model,
  provider: null,
  own: true,
  rates: [rate('input_tokens'), rate('web_searches')],
  variants: [],
  ...changes,
});

const published = (model: string, provider: string) => price(model, { provider, own: false });

const variants: Variant[] = [
  { when: { service_tier: 'priority' }, rates: [rate('requests')] },
  { when: { service_tier: 'flex', zone: 'eu' }, rates: [rate('web_searches')] },
];

describe('the calculator', () => {
  it('is filled in with the price of a row', () => {
    expect(askedOf(price('gpt-5.5*'))).toEqual({ model: 'gpt-5.5', provider: '' });
    expect(askedOf(published('o3', 'openai'))).toEqual({ model: 'o3', provider: 'openai' });
    expect(askedOf(price('o3', { provider: 'azure' }))).toEqual({ model: 'o3', provider: '' });
  });

  it('offers what else the price counts and depends on', () => {
    expect(optionsOf(price('o3', { variants }))).toEqual({
      units: ['web_searches', 'requests'],
      contexts: { service_tier: ['priority', 'flex'], zone: ['eu'] },
    });
    expect(optionsOf(undefined)).toEqual({ units: [], contexts: {} });
  });

  it('knows by which price a model goes', () => {
    const of = (model: string, provider = '') => {
      const found = priceOf(prices, { model, provider });
      return found && `${found.own ? 'own' : found.provider} ${found.model}`;
    };
    const prices = [
      price('gpt*'),
      price('gpt-5*'),
      price('gpt-5-mini'),
      price('sonnet', { provider: 'bedrock', rates: [] }),
      published('gpt-5-mini', 'openai'),
      published('sonnet', 'anthropic'),
      published('sonnet', 'bedrock'),
      published('o3', 'openai'),
    ];
    expect(of('gpt-5-mini')).toBe('own gpt-5-mini');
    expect(of('GPT-5-mini')).toBe('openai gpt-5-mini');
    expect(of('gpt-5-nano')).toBe('own gpt-5*');
    expect(of('gpt-4')).toBe('own gpt*');
    expect(of('gpt-5-mini', 'openai')).toBe('openai gpt-5-mini');
    expect(of('sonnet')).toBe('bedrock sonnet');
    expect(of('o3')).toBe('openai o3');
    expect(of('o4')).toBeUndefined();
    expect(of(' ')).toBeUndefined();
  });

  it.each([
    ['input_tokens', '1,000', 1000],
    ['input_tokens', '1.5', undefined],
    ['audio_seconds', '1.5', 1.5],
    ['audio_seconds', '90', 90],
    ['input_tokens', 'many', undefined],
  ])('reads the number of %s in “%s”', (unit, typed, count) => {
    expect(countOf(unit, typed)).toBe(count);
  });

  it('asks for what is typed', () => {
    const options = optionsOf(price('o3', { variants }));
    const values = { ...NO_VALUES, model: ' o3 ', counts: { input_tokens: '10', output_tokens: ' ' } };
    expect(requestOf(values, options)).toEqual({ model: 'o3', units: { input_tokens: 10 } });
    const more = {
      ...values,
      provider: 'openai',
      group: 'batch',
      context: { service_tier: 'flex', zone: '' },
      counts: { input_tokens: '10', web_searches: '2', requests: '1' },
      added: ['web_searches', 'pictures'],
    };
    expect(unitsOf(more, options).slice(-2)).toEqual(['cache_write_tokens', 'web_searches']);
    expect(requestOf(more, options)).toEqual({
      model: 'o3',
      units: { input_tokens: 10, web_searches: 2 },
      context: { service_tier: 'flex' },
      provider: 'openai',
      group: 'batch',
    });
  });

  it.each([
    ['without a model', { counts: { input_tokens: '10' } }],
    ['without an amount', { model: 'o3', counts: { input_tokens: '0' } }],
    [
      'with an amount that cannot be read',
      { model: 'o3', counts: { input_tokens: '10', output_tokens: 'x' } },
    ],
  ])('asks for nothing %s', (_, values) => {
    expect(requestOf({ ...NO_VALUES, ...values }, optionsOf(undefined))).toBeUndefined();
  });
});
