/** Status values of an account. */
export const ENABLED = 1;
export const DISABLED = 2;
