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
/** `[2001:db8::7]:61598`, `[2001:db8::7]` or `203.0.113.7:61598`. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|((?:::ffff:)?\d+\.[\d.]+):\d{1,5})$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** With a zone, perhaps. What it lets through may be none. */
const IPV6 = /^([\da-f:.]*:[\da-f:.]*)(?:%.+)?$/i;

export async function holdOf<Request>(
  hold: Hold<Request>,
  request: Request,
): Promise<RequestHold | undefined> {
  const found = typeof hold === 'function' ? await hold(request) : hold;
  return typeof found === 'object' || found === undefined ? found : { usd: found };
}

/** How the middleware finds out about a request. */
export interface Asked {
  /** That of this request, if it has begun already. */
  readonly spend: Spend | undefined;
  readonly header: (name: string) => string | undefined;
  /** That of the client. */
  readonly address: () => string | undefined;
}

/**
 * Holds, for the key and the address of the client. Throws KeymeterError, which the middleware answers. Returns undefined
 * for a WebSocket, which the middleware refuses with `NO_WEBSOCKETS`.
 */
export async function begin(km: Keymeter, hold: RequestHold, asked: Asked): Promise<Spend | undefined> {
  const { spend, header, address } = asked;
  if (spend) throw new Error('the spend of this request has begun already');
  // It may have several values.
  if (/websocket/i.test(header('upgrade') ?? '')) return undefined;
  const key =
    /^bearer +(\S.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim() || header('x-api-key')?.trim();
  if (!key) throw new InvalidKey(401, 'invalid_key', 'send your API key as `Authorization: Bearer …`');
  return km.open(key, { ...hold, ip: ipOf(address()) });
}

/**
 * The address without its port, which some proxies add, such as those of Azure, and without its zone. A key with a list of
 * addresses is refused where there is none, such as on a Unix socket, or where it cannot be read.
 */
function ipOf(address: unknown): string {
  if (typeof address !== 'string') return UNKNOWN_ADDRESS;
  const [, bracketed, beforePort] = WITH_PORT.exec(address.trim()) ?? [];
  const host = bracketed ?? beforePort ?? address.trim();
  if (IPV4.test(host)) return host;
  const ipv6 = `http://[${IPV6.exec(host)?.[1]}]`;
  return URL.canParse(ipv6) ? new URL(ipv6).hostname.slice(1, -1) : UNKNOWN_ADDRESS;
}

/** Nothing says what a part of one costs, and its key would be checked only when it opens. */
export const NO_WEBSOCKETS = { status: 403, text: 'WebSockets are not metered' } as const;

/** For `currentSpend`. */
export function begun(spend: Spend | undefined): Spend {
  if (!spend) throw new Error('this request has no hold: give the middleware one');
  return spend;
}

/** Why a spend is released if it was told nothing. */
export function failure(status: number | undefined): Error | undefined {
  // An answer that has begun is never free, also if its client left; one with an error is a failure.
  return status === undefined || status >= 400 ? new Error('the handler answered with an error') : undefined;
}
