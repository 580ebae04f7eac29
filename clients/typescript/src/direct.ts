/** Sends what is not encrypted without a proxy. */

import { environment, isCloudflareWorker, runtime } from './runtime.ts';
import type { Fetch } from './transport.ts';

/** What is used of Node.js's `node:http`, which Deno and Bun have too. */
interface Http {
  readonly Agent: new (options: { keepAlive: boolean; timeout: number; proxyEnv: object }) => object;
  request(
    url: string,
    options: { agent: object; method?: string; headers?: HeadersInit; signal?: AbortSignal | null },
    answered: (answer: Answer) => void,
  ): {
    on(event: 'error', failed: (error: Error) => void): unknown;
    on(event: 'close', closed: () => void): unknown;
    end(body?: string): unknown;
  };
}

interface Answer {
  readonly statusCode?: number;
  readonly rawHeaders: readonly string[];
  on(event: 'data', part: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', ended: () => void): unknown;
  on(event: 'error', failed: (error: Error) => void): unknown;
  destroy(): unknown;
}

/** Keymeter closes connections that are idle for 75 seconds; ours end before. */
const IDLE_MILLISECONDS = 60_000;
const PROXIES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
/** A response with one of these cannot be made with a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * For addresses of `http:`. The `fetch` of Deno and Bun, and of Node.js with `NODE_USE_ENV_PROXY`, gives them to a proxy of the
 * environment, which would read the credential and the keys. Throws TypeError if that cannot be avoided. Returns undefined
 * where no runtime does that: in workers, in browsers, and in Node.js before 20.16.
 */
export function directFetch(): Fetch | undefined {
  const { Bun, Deno, process } = runtime();
  // Before, its `node:http` uses the proxy too.
  if (Bun && /^(?:0|1\.[0-3])\./.test(Bun.version)) {
    const name = PROXIES.find(environment);
    if (name) {
      throw new TypeError(
        `the proxy of ${name} would read the credential and the keys: use Bun 1.4, an https address, or no proxy`,
      );
    }
  }
  if (isCloudflareWorker()) return undefined;
  const http = process?.getBuiltinModule?.('node:http') as Http | undefined;
  if (!http && Deno) {
    throw new TypeError('a proxy might read the credential and the keys: use Deno 2, or an https address');
  }
  return http && fetchBy(http);
}

function fetchBy(http: Http): Fetch {
  // With no variables for it: Deno's agents read those of the environment if `NODE_USE_ENV_PROXY` says so.
  const agent = new http.Agent({ keepAlive: true, timeout: IDLE_MILLISECONDS, proxyEnv: {} });
  return (url, { method, headers, signal, body }) =>
    new Promise((resolve, reject) => {
      const request = http.request(url, { agent, method, headers, signal }, (answer) => {
        try {
          resolve(responseOf(answer));
        } catch (error) {
          // What no server of HTTP sends, such as the status 999.
          answer.destroy();
          reject(error);
        }
      });
      request.on('error', reject);
      // Also without an error, such as after the status 101.
      request.on('close', () => reject(new Error('the connection ended before the answer')));
      request.end(body as string | undefined);
    });
}

function responseOf(answer: Answer): Response {
  const status = answer.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
    headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
  }
  let ended = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (error?: Error) => {
        if (ended) return;
        ended = true;
        if (error) controller.error(error);
        else controller.close();
      };
      answer.on('data', (chunk) => ended || controller.enqueue(chunk));
      answer.on('end', () => end());
      answer.on('error', end);
      answer.on('close', () => end(new Error('the connection ended before the answer')));
    },
    cancel() {
      ended = true;
      answer.destroy();
    },
  });
  return new Response(WITHOUT_BODY.has(status) ? null : body, { status, headers });
}
