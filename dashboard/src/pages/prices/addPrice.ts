/** An example for which no model is given. */
const EXAMPLE = { model: 'gpt-5.5*', rates: 'prompt = "5", completion = "30", cached = "0.5"' };

/** Refused by the server until somebody fills it in, so that no request costs what an example says. */
const TO_FILL_IN = 'prompt = "…", completion = "…"';

/** The page that says how to add a price, of this model if it is known. */
export function addPriceHref(model?: string | null): string {
  return model ? `/prices?${new URLSearchParams({ add: model })}` : '/prices';
}

/** The lines of the settings file with the price of a model. Without one, an example. */
export function priceSetting(model: string): string {
  // The escapes of JSON are also those of TOML.
  const name = JSON.stringify(model || EXAMPLE.model);
  return `[prices]\n${name} = { ${model ? TO_FILL_IN : EXAMPLE.rates} }`;
}

/** Prints these lines from the list of another program. */
export function convertCommand(model: string): string {
  const quoted = `'${(model || EXAMPLE.model).replaceAll("'", "'\\''")}'`;
  return `keymeter prices convert --from litellm model_prices_and_context_window.json --only ${quoted}`;
}
