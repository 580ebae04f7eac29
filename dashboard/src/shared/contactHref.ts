/** The link target of an email or web address. `undefined` for other text. */
export function contactHref(contact: string): string | undefined {
  if (/^[^\s@:/]+@[^\s@/]+\.[^\s@/]+$/.test(contact)) return `mailto:${contact}`;
  return /^https?:\/\//i.test(contact) && URL.canParse(contact) ? contact : undefined;
}
