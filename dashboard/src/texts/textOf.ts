/** The text for a code of the API. A newer server may send codes that this dashboard has no text for. */
export function textOf(known: Readonly<Record<string, string>>, code: string): string | undefined {
  return Object.hasOwn(known, code) ? known[code] : undefined;
}
