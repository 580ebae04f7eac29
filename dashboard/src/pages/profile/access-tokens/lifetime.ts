const DAY = 86_400;
const NEVER = -1;

/** How many days an access token is to live; 0 for ever. */
export const lifetimes = ['0', '7', '30', '90', '365'] as const;
export type Lifetime = (typeof lifetimes)[number];

/** `expires_at` on the wire. */
export function expiresAt(lifetime: Lifetime, now: number): number {
  return lifetime === '0' ? NEVER : now + Number(lifetime) * DAY;
}
