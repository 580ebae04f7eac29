import type { components } from '../../src/api/schema';
import { type Api, done } from './accounts';

type Change = components['schemas']['SetPricesBody'];

/** As `genai-prices` publishes them: rates of many kinds, tiers, and rates of a service tier. */
export const PROVIDERS = [
  {
    id: 'openai',
    name: 'OpenAI',
    models: [
      {
        id: 'gpt-5.5',
        match: { starts_with: 'gpt-5.5' },
        prices: {
          input_mtok: { base: 5, tiers: [{ start: 272_000, price: 10 }] },
          output_mtok: { base: 30, tiers: [{ start: 272_000, price: 45 }] },
          cache_read_mtok: 0.5,
          web_searches_kcount: 10,
        },
        price_variants: [
          {
            when: { service_tier: 'priority' },
            prices: { input_mtok: 10, output_mtok: 60, cache_read_mtok: 1 },
          },
          {
            when: { service_tier: 'flex' },
            prices: { input_mtok: 2.5, output_mtok: 15, cache_read_mtok: 0.25 },
          },
        ],
      },
      {
        id: 'gpt-realtime',
        match: { equals: 'gpt-realtime' },
        prices: { input_mtok: 4, output_mtok: 16, input_audio_mtok: 32, output_audio_mtok: 64 },
      },
      { id: 'whisper-1', match: { equals: 'whisper-1' }, prices: { audio_hours: 0.36 } },
    ],
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    models: [
      {
        id: 'claude-sonnet',
        match: { starts_with: 'claude-sonnet' },
        prices: {
          input_mtok: 3,
          output_mtok: 15,
          cache_read_mtok: 0.3,
          cache_write_mtok: 3.75,
          cache_write_1h_mtok: 6,
        },
      },
    ],
  },
];

/** One's own prices, of which one has the price of a provider. */
export const OWN_FILE = {
  providers: ['openai', 'anthropic'],
  models: {
    sonnet: { provider: 'anthropic' },
    'house-*': { input_mtok: '0.10', output_mtok: '0.40', requests_kcount: '2' },
    'a-model-of-our-own-with-a-long-name-at-region-1/instruct': {
      input_mtok: '0.000000001',
      output_mtok: '2',
    },
  },
};

/** Sets a price list, whatever it changes. */
export async function setPrices(root: Api, change: { file?: object; data?: object[]; note?: string }) {
  const body = { ...change, accept: true } as Change;
  return done(root.PUT('/api/admin/prices', { body }));
}

/** Two versions of a price list. */
export async function setTwoPriceLists(root: Api) {
  await setPrices(root, { file: OWN_FILE, data: PROVIDERS, note: 'The models of two providers' });
  const models = {
    ...OWN_FILE.models,
    'house-*': { input_mtok: '0.12', output_mtok: '0.40', requests_kcount: '2' },
  };
  await setPrices(root, { file: { ...OWN_FILE, models }, note: 'Dearer input' });
}
