/** The text for a code of the API. A newer server may send codes that this dashboard has no text for. */
export function textOf<Text = string>(known: Readonly<Record<string, Text>>, code: string): Text | undefined {
  return Object.hasOwn(known, code) ? known[code] : undefined;
}
