const DAY = 86_400;
const NEVER = -1;

/** Lifetime of an access token in days; 0 means it never expires. */
export const lifetimes = ['7', '30', '90', '365', '0'] as const;
export type Lifetime = (typeof lifetimes)[number];

/** A forgotten token stops working after some time. */
export const DEFAULT_LIFETIME: Lifetime = '90';

/** The value of `expires_at` in the API. */
export function expiresAt(lifetime: Lifetime, now: number): number {
  return lifetime === '0' ? NEVER : now + Number(lifetime) * DAY;
}
