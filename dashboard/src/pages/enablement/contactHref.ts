/** A link for an e-mail or web address; none for anything else, which then stands there as it is. */
export function contactHref(contact: string): string | undefined {
  if (/^[^\s@:/]+@[^\s@/]+\.[^\s@/]+$/.test(contact)) return `mailto:${contact}`;
  return /^https?:\/\//i.test(contact) && URL.canParse(contact) ? contact : undefined;
}
