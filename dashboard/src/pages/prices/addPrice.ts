/** An example for which no model is given. */
const EXAMPLE = {
  model: 'gpt-5.5*',
  rates: '"input_mtok": "5", "output_mtok": "30", "cache_read_mtok": "0.5"',
};

/** Refused by the server until somebody fills it in, so that no request costs what an example says. */
const TO_FILL_IN = '"input_mtok": "…", "output_mtok": "…"';

/** Sets the file of prices. */
export const SET_COMMAND = 'keymeter prices set prices.json';

/** The page that says how to add a price, of this model if it is known. */
export function addPriceHref(model?: string | null): string {
  return model ? `/prices?${new URLSearchParams({ add: model })}` : '/prices';
}

/** The file of prices with the price of a model. Without one, an example. */
export function priceFile(model: string): string {
  const name = JSON.stringify(model || EXAMPLE.model);
  const rates = model ? TO_FILL_IN : EXAMPLE.rates;
  return `{\n  "models": {\n    ${name}: { ${rates} }\n  }\n}`;
}
