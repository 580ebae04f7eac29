/** An ID in an address, or `undefined` if the text is none. */
export function readId(text: string | null | undefined): number | undefined {
  return text && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
