/**
 * Meters a Hono application: a hold before each request, and its cost when the answer was sent or the client left.
 *
 * @module
 */

import type { Context, MiddlewareHandler } from 'hono';
import type { Keymeter } from './client.ts';
import { KeymeterError } from './errors.ts';
import { begin, begun, failure, type Hold, holdOf, NO_WEBSOCKETS } from './metering.ts';
import { refusalOf } from './openai.ts';
import { isCloudflareWorker } from './runtime.ts';
import type { Spend } from './spend.ts';

export type { Hold, RequestHold } from './metering.ts';

export interface KeymeterHonoOptions {
  /** The client's address. Default: that of the connection, in Node.js, Deno, Bun and Cloudflare workers. */
  readonly ip?: (c: Context) => string | undefined;
}

/** The name of the variable of the context. */
const SPEND = 'keymeterSpend';

/**
 * Refuses requests whose key may not be used for `hold`, and charges the others. The key is in `Authorization: Bearer` or
 * `x-api-key`.
 *
 * A request with an answer is charged what `spend.cost` was told, or the whole hold if it was told nothing. One that fails
 * before its answer, or whose answer has a status of 400 or more, is charged what was told. Without `hold`, it only
 * answers the refusals of the handler's own calls.
 */
export function keymeter(
  km: Keymeter,
  hold?: Hold<Context>,
  options: KeymeterHonoOptions = {},
): MiddlewareHandler {
  return async (c, next) => {
    let spend: Spend | undefined;
    try {
      const request = hold === undefined ? undefined : await holdOf(hold, c);
      if (request) {
        spend = await begin(km, request, {
          spend: c.get(SPEND),
          header: (name) => c.req.header(name),
          address: () => (options.ip ? options.ip(c) : addressOf(c)),
        });
        if (!spend) return c.text(NO_WEBSOCKETS.text, NO_WEBSOCKETS.status);
        c.set(SPEND, spend);
      }
      await next();
    } catch (error) {
      await spend?.end(error);
      if (!(error instanceof KeymeterError)) throw error;
      return answer(error, km);
    }
    // Hono answers what a handler throws, and keeps it here.
    if (c.error instanceof KeymeterError) {
      c.res = undefined;
      c.res = answer(c.error, km);
    }
    if (spend) {
      const { response, ended } = ending(spend, c.res, c.req.raw.signal);
      c.res = undefined;
      c.res = response;
      inWorkers(c, ended);
    }
  };
}

/** The spend of this request. Call its `cost`. */
export function currentSpend(c: Context): Spend {
  return begun(c.get(SPEND));
}

/** The same response, whose spend ends when its body was sent or left. */
function ending(spend: Spend, response: Response, client: AbortSignal) {
  const failed = failure(response.status);
  const reader = client.aborted ? undefined : response.body?.getReader();
  if (!reader) return { response, ended: spend.end(failed) };
  let finish = () => {};
  const ended = new Promise<void>((resolve) => {
    finish = () => {
      client.removeEventListener('abort', leave);
      resolve(spend.end(failed));
    };
  });
  // First ends the handler's stream, which may tell a last cost.
  const leave = async () => {
    await reader.cancel().catch(() => undefined);
    finish();
  };
  // Not all servers cancel a body whose client has left.
  client.addEventListener('abort', leave);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      finish();
    },
    cancel: leave,
  });
  return { response: new Response(body, response), ended };
}

function answer(error: KeymeterError, km: Keymeter): Response {
  const { status, headers, body } = refusalOf(error, km.log);
  return Response.json(body, { status, headers });
}

/** Of the connection, as each runtime gives it to Hono. */
function addressOf(c: Context): string | undefined {
  const env = (c.env ?? {}) as {
    incoming?: { socket?: { remoteAddress?: string } };
    remoteAddr?: { hostname?: string };
    requestIP?: (request: Request) => { address?: string } | null;
  };
  if (env.incoming) return env.incoming.socket?.remoteAddress;
  if (env.remoteAddr) return env.remoteAddr.hostname;
  if (typeof env.requestIP === 'function') return env.requestIP(c.req.raw)?.address;
  // Elsewhere clients may send this header themselves.
  return isCloudflareWorker() ? c.req.header('cf-connecting-ip') : undefined;
}

/** A worker ends with its answer, unless it is told to wait. */
function inWorkers(c: Context, ended: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(ended);
  } catch {
    // Other runtimes have no such context.
  }
}
