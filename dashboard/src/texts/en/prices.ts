export const prices = {
  title: 'Prices',
  description: 'What models cost, in US dollars per million tokens.',
  search: 'Filter by model',
  columns: {
    model: 'Model',
    prompt: 'Input',
    completion: 'Output',
    cached: 'Cached input',
    cache_write: 'Cache write',
    request: 'Per request',
    prompts: {
      at_most: (tokens: string) => `up to ${tokens} input tokens`,
      more_than: (tokens: string) => `above ${tokens} input tokens`,
    },
  },
  star: 'A name with * at its end stands for all models that begin like this. The longest matching name counts.',
  inForce: (since: string) => `In force since ${since}.`,
  multiplied: 'Costs are multiplied by the ratio of the key’s group.',
  groups: (groups: string) => `Your groups: ${groups}.`,
  refused: 'The newest prices are not in force. Correct the settings file: it is read again each minute.',
  empty: {
    title: 'No prices yet',
    hint: 'With prices, a gateway can send token counts without an amount, and the server computes what a request costs. Administrators add prices to the section [prices] of the settings file.',
  },
  add: {
    title: 'Add a price',
    hint: 'Prices are in the section [prices] of the settings file (keymeter --config FILE), in US dollars per million tokens. The server reads it again each minute, without a restart. All servers need the same list.',
    setting: 'In the settings file',
    copySetting: 'Copy setting',
    command: 'Or convert a list of LiteLLM, models.dev or new-api',
    copyCommand: 'Copy command',
  },
};
