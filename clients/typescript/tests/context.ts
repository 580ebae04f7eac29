/** What most test files begin with. */

import { inject, onTestFinished } from 'vitest';
import { Keymeter, type KeymeterOptions, KeymeterTokens, type Level } from '../src/index.ts';
import { type Account, Administration, LossyProxy } from './service.ts';

export const service = inject('service');
export const administration = new Administration(service);

let made: Promise<Account> | undefined;

/** One for a file, with a wallet that is always enough. */
export function account(): Promise<Account> {
  made ??= administration.account();
  return made;
}

/** What was logged. */
export class Lines {
  readonly lines: (readonly [Level, string])[] = [];

  readonly log = (level: Level, message: string) => {
    this.lines.push([level, message]);
  };

  get text(): string {
    return this.lines.map(([, message]) => message).join('\n');
  }
}

/** A client that is closed when the test ends, and says nothing. */
export function client(options: KeymeterOptions = {}): Keymeter {
  const km = new Keymeter({
    url: service.url,
    credential: service.credential,
    log: () => undefined,
    ...options,
  });
  onTestFinished(() => km.close());
  return km;
}

/** A client for the tokens of an account that has none, or through a proxy. It is closed when the test ends. */
export async function tokenClient(url = service.url): Promise<KeymeterTokens> {
  const { accessToken } = await administration.account();
  const tokens = new KeymeterTokens({ url, accessToken });
  onTestFinished(() => tokens.close());
  return tokens;
}

export async function lossyProxy(target: { readonly url: string } = service): Promise<LossyProxy> {
  const proxy = await LossyProxy.before(target);
  onTestFinished(() => proxy.close());
  return proxy;
}
