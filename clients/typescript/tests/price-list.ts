/** A price list with models of providers. */

// A token in costs a unit of quota.
const RATES = { input_mtok: 2, cache_read_mtok: 0.2, output_mtok: 10, web_searches_kcount: 10 };
export const PRICES = {
  file: {
    providers: ['openai', 'anthropic', 'google'],
    models: {
      mine: { input_mtok: '2', output_mtok: '10' },
      // That of the settings, which this list replaces.
      'priced*': { input_mtok: '5', output_mtok: '30', cache_read_mtok: '0.5', cache_write_mtok: '2.5' },
    },
  },
  data: [
    {
      id: 'openai',
      name: 'OpenAI',
      models: [
        {
          id: 'gpt',
          match: { starts_with: 'gpt' },
          prices: RATES,
          price_variants: [{ when: { service_tier: 'priority' }, prices: { ...RATES, input_mtok: 4 } }],
        },
      ],
      extractors: [
        {
          api_flavor: 'embeddings',
          root: 'usage',
          model_path: 'model',
          mappings: [{ path: 'prompt_tokens', dest: 'input_tokens', required: true }],
        },
      ],
    },
    {
      id: 'anthropic',
      name: 'Anthropic',
      models: [
        { id: 'claude', match: { starts_with: 'claude' }, prices: { ...RATES, cache_write_mtok: 2.5 } },
      ],
    },
    {
      id: 'google',
      name: 'Google',
      models: [
        { id: 'gemini', match: { starts_with: 'gemini' }, prices: { input_mtok: 2, output_mtok: 10 } },
      ],
      extractors: [
        {
          api_flavor: 'default',
          root: 'usageMetadata',
          model_path: 'modelVersion',
          mappings: [
            { path: 'promptTokenCount', dest: 'input_tokens', required: false },
            { path: 'candidatesTokenCount', dest: 'output_tokens', required: false },
            { path: 'thoughtsTokenCount', dest: 'output_tokens', required: false },
          ],
        },
      ],
    },
  ],
};
