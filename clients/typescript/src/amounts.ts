/** Amounts of money, as whole trillionths of a dollar: exact, and what the service rounds to. */

/** Dollars: decimal text, or a number. A number is rounded to 12 decimals; text is exact up to there. */
export type Usd = string | number | bigint;

const DECIMALS = 12;
export const PICO = 10n ** BigInt(DECIMALS);
export const PICO_PER_QUOTA = PICO / 500_000n;
/** More digits than any balance has; beyond it an amount is refused. */
const MOST_DIGITS = 40;
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Throws a RangeError if it is not an amount of 0 or more. */
export function picoDollars(usd: Usd): bigint {
  const parsed = typeof usd === 'string' || typeof usd === 'number' || typeof usd === 'bigint';
  // The text of a number is the shortest that means it, as in JSON.
  const parts = parsed ? DECIMAL.exec(String(usd).trim()) : null;
  const [, sign, whole = '', part = '', exponent = '0'] = parts ?? [];
  const digits = (whole + part).replace(/^0+(?=\d)/, '');
  const shift = Number(exponent) - part.length + DECIMALS;
  if (digits === '' || digits.length > 1000 || (digits !== '0' && digits.length + shift > MOST_DIGITS)) {
    throw new RangeError('usd must be an amount of 0 or more');
  }
  const pico = scaled(digits, shift);
  if (sign === '-' && pico > 0n) throw new RangeError('usd must be an amount of 0 or more');
  return pico;
}

/** The digits with so many zeros more; or so many digits less, rounded half to even as the service does. */
function scaled(digits: string, shift: number): bigint {
  if (digits === '0') return 0n;
  if (shift >= 0) return BigInt(digits) * 10n ** BigInt(shift);
  if (-shift > digits.length) return 0n;
  const divisor = 10n ** BigInt(-shift);
  const quotient = BigInt(digits) / divisor;
  const twice = (BigInt(digits) % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

export function picoOfQuota(quota: number): bigint {
  return BigInt(quota) * PICO_PER_QUOTA;
}

export function usdText(pico: bigint): string {
  const part = (pico % PICO).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return part === '' ? `${pico / PICO}` : `${pico / PICO}.${part}`;
}
