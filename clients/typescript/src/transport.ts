/** Sends requests by fetch: where the service is, how many requests at once, and what counts as no answer. */

import { directFetch } from './direct.ts';
import { environment } from './runtime.ts';
import { VERSION } from './version.ts';

/** What came of a request: an answer, or why there is none. */
export type Received =
  | { readonly status: number; readonly headers: Headers; readonly body: string }
  | {
      readonly why: string;
      /** False if the request certainly did not reach Keymeter. */
      readonly sent: boolean;
    };

/** What is sent. */
export interface Request {
  /** Default: POST. */
  readonly method?: string;
  readonly path: string;
  /** JSON, so that what cannot be sent fails before a spend begins. It may have a key. */
  readonly body?: string;
  /** Beside those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxAnswerBytes?: number;
}

/** What the clients have in common. */
export interface ServiceOptions {
  /** Default: the environment variable `KEYMETER_URL`. */
  readonly url?: string;
  /** Instead of `node:http` for an address of `http:`, and of the global `fetch` for one of `https:`. */
  readonly fetch?: Fetch;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Why a call fails after `close`. */
export const CLOSED = 'this client was closed';
/** So that many calls at once need few connections; more calls wait for one. */
const CONNECTIONS = 16;
/** The largest answer is that of 1,000 charges, a few hundred bytes each. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Codes of Node.js and Bun for a request that found no connection. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);

/** Where the service is, and the credential for it, which is not shown. */
export class Settings {
  readonly url: string;
  readonly #credential: string;

  constructor(
    url: string | undefined,
    credential: string | undefined,
    variable = 'KEYMETER_CREDENTIAL',
    meaning = 'a gateway credential (keymeter gateway create NAME)',
  ) {
    this.url = (url || environment('KEYMETER_URL')).trim().replace(/\/+$/, '');
    this.#credential = (credential || environment(variable)).trim();
    if (this.url === '') {
      throw new TypeError('set KEYMETER_URL to the address of Keymeter, such as http://127.0.0.1:3000');
    }
    if (this.#credential === '') {
      throw new TypeError(`set ${variable} to ${meaning}`);
    }
    // What is wrong is not shown, because it may be a secret.
    const parts = URL.canParse(this.url) ? new URL(this.url) : undefined;
    if (!parts || !/^https?:\/\//i.test(this.url) || /[?#]/.test(this.url)) {
      throw new TypeError('KEYMETER_URL must be an http or https address without a query');
    }
    if (parts.username !== '' || parts.password !== '') {
      throw new TypeError('KEYMETER_URL must not have a user or a password');
    }
    if (!/^[!-~]+$/.test(this.#credential)) {
      throw new TypeError(`${variable} must be printable ASCII without blanks`);
    }
  }

  get encrypted(): boolean {
    return /^https:/i.test(this.url);
  }

  headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.#credential}`,
      'content-type': 'application/json',
      'user-agent': `keymeter-client-typescript/${VERSION}`,
    };
  }
}

export class Transport {
  readonly #settings: Settings;
  readonly #fetch: Fetch;
  /** What ends the requests that run or wait, when the client closes. */
  readonly #aborts = new Set<() => void>();
  readonly #waiting: (() => void)[] = [];
  #free = CONNECTIONS;
  #closed = false;

  constructor(settings: Settings, fetch: Fetch | undefined) {
    this.#settings = settings;
    // Found for each request, as tests and tracing replace it. Some runtimes refuse a `this` that is not theirs.
    const globalFetch: Fetch = (url, init) => globalThis.fetch(url, init);
    this.#fetch = fetch ?? (settings.encrypted ? undefined : directFetch()) ?? globalFetch;
  }

  close(): void {
    this.#closed = true;
    for (const abort of this.#aborts) abort();
  }

  /** Waits at most so many seconds for a connection, and again for the answer. Throws the reason of `signal`. */
  async send(request: Request, seconds: number, signal?: AbortSignal): Promise<Received> {
    signal?.throwIfAborted();
    if (this.#closed) return { why: CLOSED, sent: false };
    if (!(await this.#connection(seconds, signal))) {
      signal?.throwIfAborted();
      return { why: this.#closed ? CLOSED : 'all connections are in use', sent: false };
    }
    const end = new AbortController();
    const abort = () => end.abort();
    const timer = setTimeout(abort, Math.max(seconds, 0.01) * 1000);
    signal?.addEventListener('abort', abort);
    this.#aborts.add(abort);
    try {
      // While this waited.
      if (signal?.aborted || this.#closed) abort();
      const response = await this.#fetch(this.#settings.url + request.path, {
        method: request.method ?? 'POST',
        headers: { ...this.#settings.headers(), ...request.headers },
        body: request.body,
        // The credential is not for other servers.
        redirect: 'manual',
        signal: end.signal,
      });
      const text = await readText(response, request.maxAnswerBytes ?? MAX_ANSWER_BYTES);
      if (text === undefined) return { why: 'the answer is too long', sent: true };
      return { status: response.status, headers: response.headers, body: text };
    } catch (error) {
      signal?.throwIfAborted();
      if (this.#closed) return { why: CLOSED, sent: true };
      return end.signal.aborted ? { why: 'Timeout', sent: true } : noAnswer(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#aborts.delete(abort);
      // The call that has waited longest gets this connection.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** Takes a connection. Returns false if there was none in time, or if `signal` was aborted. */
  #connection(seconds: number, signal: AbortSignal | undefined): boolean | Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const settle = (got: boolean) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.#aborts.delete(leave);
        resolve(got);
      };
      const take = () => settle(true);
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        settle(false);
      };
      const timer = setTimeout(leave, Math.max(seconds, 0) * 1000);
      signal?.addEventListener('abort', leave);
      this.#aborts.add(leave);
      this.#waiting.push(take);
    });
  }
}

/** Returns undefined if it is too long. */
async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** What errors of fetch say may have parts of the request, so only codes and names are shown. */
function noAnswer(error: unknown): Received {
  const { name, code, cause } = error as {
    name?: string;
    code?: unknown;
    cause?: { code?: unknown; message?: string };
  };
  const known = cause?.code ?? code;
  // Deno has no code.
  const refused = NOT_CONNECTED.has(known) || /\(Connect\)/.test(cause?.message ?? '');
  const why = typeof known === 'string' ? known : refused ? 'ConnectError' : (name ?? 'Error');
  return { why, sent: !refused };
}
