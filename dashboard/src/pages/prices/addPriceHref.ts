/** The page on which administrators add a price, of this model if it is known. */
export function addPriceHref(model?: string | null): string {
  return model ? `/prices?${new URLSearchParams({ add: model })}` : '/prices';
}
