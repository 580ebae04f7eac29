const DAY = 86_400;
const NEVER = -1;

/** Lifetime of an access token in days; 0 means it never expires. */
export const lifetimes = ['0', '7', '30', '90', '365'] as const;
export type Lifetime = (typeof lifetimes)[number];

/** The value of `expires_at` in the API. */
export function expiresAt(lifetime: Lifetime, now: number): number {
  return lifetime === '0' ? NEVER : now + Number(lifetime) * DAY;
}
