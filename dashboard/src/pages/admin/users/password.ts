import { requestLimits } from '../../../api/serverLimits';

/** A password as typed or generated. */
export interface Password {
  text: string;
  isGenerated: boolean;
}

export const noPassword: Password = { text: '', isGenerated: false };

// No 0, o, 1 or l, which look alike. 32 characters divide 256 evenly, so each is equally likely.
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 25;

/** 125 random bits in readable groups: "k3mf9-…". */
export function generatePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  const letters = Array.from(bytes, (byte) => LETTERS.charAt(byte % LETTERS.length)).join('');
  return letters.replace(/.{5}(?=.)/g, '$&-');
}

/** Counts characters, not UTF-16 units, as the server does. */
export function isTooShort(password: string): boolean {
  return [...password].length < requestLimits.NewUserBody.password.minLength;
}
