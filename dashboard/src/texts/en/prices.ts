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
  empty: {
    title: 'No prices yet',
    hint: 'With prices, a gateway can send token counts without an amount, and the server computes what a request costs. Administrators set them with the command keymeter prices set.',
  },
  add: {
    title: 'Add a price',
    hint: 'Prices are in a JSON file, in US dollars per million tokens. A new file replaces the former one, so start from that: keymeter prices show > prices.json. All servers use it at once, without a restart.',
    file: 'In prices.json',
    copyFile: 'Copy price',
    command: 'Then set the file',
    copyCommand: 'Copy command',
  },
};
