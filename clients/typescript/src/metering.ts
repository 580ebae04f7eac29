/** What the middleware of all frameworks has in common. */

import type { Usd } from './amounts.ts';
import type { Keymeter } from './client.ts';
import { InvalidKey } from './errors.ts';
import type { Spend, SpendOptions } from './spend.ts';

/** What a request may cost at most; the rest as for `Keymeter.spend`. The address is that of the connection. */
export type RequestHold = Omit<SpendOptions, 'ip' | 'renew' | 'signal'>;

/** An amount in dollars, a `RequestHold`, or a function of the request. Undefined: the request costs nothing. */
export type Hold<Request> =
  | Usd
  | RequestHold
  | ((request: Request) => Usd | RequestHold | undefined | Promise<Usd | RequestHold | undefined>);

/** In the list of addresses of no key, unless that allows every address. */
const UNKNOWN_ADDRESS = '0.0.0.0';

export async function holdOf<Request>(
  hold: Hold<Request>,
  request: Request,
): Promise<RequestHold | undefined> {
  const found = typeof hold === 'function' ? await hold(request) : hold;
  return typeof found === 'object' || found === undefined ? found : { usd: found };
}

/** Holds, for the key and the address of the client. Throws KeymeterError, which the middleware answers. */
export function begin(
  km: Keymeter,
  hold: RequestHold,
  header: (name: string) => string | undefined,
  address: string | undefined,
): Promise<Spend> {
  const key =
    /^bearer +(\S.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim() || header('x-api-key')?.trim();
  if (!key) throw new InvalidKey(401, 'invalid_key', 'send your API key as `Authorization: Bearer …`');
  // A key with a list of addresses is refused where there is no address, such as on a Unix socket.
  return km.open(key, { ...hold, ip: address?.replace(/%.*$/, '') || UNKNOWN_ADDRESS });
}

/** Why a spend is released if it was told nothing. */
export function failure(status: number | undefined): Error | undefined {
  // An answer that has begun is never free, also if its client left; one with an error is a failure.
  return status === undefined || status >= 400 ? new Error('the handler answered with an error') : undefined;
}
