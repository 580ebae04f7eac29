// Without what looks alike: 0 and o, 1 and l. There are 32, which divides 256, so each is as likely.
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 25;
const MIN_CHARACTERS = 8;

/** 125 random bits, in groups that can be read out: "k3mf9-…". */
export function generatePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  const letters = Array.from(bytes, (byte) => LETTERS.charAt(byte % LETTERS.length)).join('');
  return letters.replace(/.{5}(?=.)/g, '$&-');
}

/** As the server counts: characters, not UTF-16 units. */
export function isTooShort(password: string): boolean {
  return [...password].length < MIN_CHARACTERS;
}
