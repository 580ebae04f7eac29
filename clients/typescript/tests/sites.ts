/** The same application in Hono and in Express. */

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import * as forExpress from '../src/express.ts';
import * as forHono from '../src/hono.ts';
import type { Keymeter, Spend } from '../src/index.ts';

/** What the tests tell handlers, and what these saw. */
export class Seen {
  /** Requests that wait for `goOn`. */
  waiting = 0;
  goOn: () => void = () => undefined;
  /** Streams that ended, in any way. */
  streams = 0;

  wait(): Promise<void> {
    this.waiting += 1;
    return new Promise((resolve) => {
      this.goOn = resolve;
    });
  }
}

export interface Site {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export type MakeSite = (km: Keymeter, seen: Seen) => Promise<Site>;

/** Of a request; undefined for what holds for itself or is free. */
function holdOfPath(path: string): forHono.RequestHold | undefined {
  return /^\/(free|own)/.test(path) ? undefined : { quota: 50, model: 'gpt-5' };
}

interface Body {
  readonly max_tokens: number;
  readonly model: string;
}

function holdOfBody({ max_tokens, model }: Body): forHono.RequestHold {
  return { quota: max_tokens, model, ttlSeconds: 60, onExpiry: 'release' };
}

/** Tells the cost of the query, if it has one. */
function tell(spend: Spend, cost: unknown): void {
  if (cost !== undefined) spend.cost({ quota: Number(cost), promptTokens: 3 });
}

/** Parts of a stream, each of which costs 2. */
async function* parts(spend: Spend, count: unknown, told: boolean, seen: Seen): AsyncGenerator<string> {
  try {
    for (let part = 0; part < Number(count ?? 5) && !spend.ended; part += 1) {
      if (told) spend.cost({ quota: 2 });
      yield 'part'.repeat(1000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    seen.streams += 1;
  }
}

/** A stream that fails after one part. */
function broken(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    async pull(controller) {
      if (sent) throw new Error('a defect');
      sent = true;
      controller.enqueue(new TextEncoder().encode((await parts.next()).value));
    },
  });
}

export const honoSite: MakeSite = async (km, seen) => {
  const { keymeter, currentSpend } = forHono;
  const app = new Hono();
  app.onError((error, c) => c.text(error.message, 500));
  app.use(keymeter(km, (c) => holdOfPath(c.req.path)));
  app.post('/work', (c) => {
    const spend = currentSpend(c);
    tell(spend, c.req.query('cost'));
    const status = Number(c.req.query('status') ?? 200) as 200;
    return c.json({ reserved: spend.reservation.reserved }, status);
  });
  app.post('/empty', (c) => {
    tell(currentSpend(c), c.req.query('cost'));
    return c.body(null, 204);
  });
  app.post('/breaks', (c) => {
    tell(currentSpend(c), c.req.query('cost'));
    throw new Error('a defect');
  });
  app.post('/slow', async (c) => {
    await seen.wait();
    tell(currentSpend(c), c.req.query('cost'));
    if (c.req.query('breaks')) throw new Error('a defect');
    return c.json({});
  });
  app.post('/stream', (c) => {
    const { told = 'true', count, breaks } = c.req.query();
    const sent = parts(currentSpend(c), count, told === 'true', seen);
    if (breaks) return c.body(broken(sent));
    return stream(c, async (body) => {
      for await (const part of sent) await body.write(part);
    });
  });
  app.post('/own', keymeter(km, '0.00002'), (c) => {
    tell(currentSpend(c), 4);
    return c.json(currentSpend(c).reservation.reserved);
  });
  app.post('/own/fixed', keymeter(km, { quota: 7 }), (c) => c.json(currentSpend(c).reservation.reserved));
  const ofBody = keymeter(km, async (c) => holdOfBody(await c.req.json()));
  app.post('/own/body', ofBody, async (c) => {
    tell(currentSpend(c), 1);
    const { max_tokens } = await c.req.json<Body>();
    return c.json({ max_tokens, reserved: currentSpend(c).reservation.reserved });
  });
  app.post('/own/twice', keymeter(km, '0.00002'), keymeter(km, '0.00004'), (c) => c.text('it has two holds'));
  app.get('/free', (c) => c.json('free'));
  app.get('/free/charges', async (c) => {
    const { charged } = await km.charge(c.req.query('key') ?? '', { quota: 3 });
    return c.json(charged);
  });
  app.get('/free/none', (c) => c.json(currentSpend(c).usd));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  if (!server.listening) await once(server, 'listening');
  return siteOf(server as Server);
};

export const expressSite: MakeSite = async (km, seen) => {
  const { keymeter, keymeterErrors, currentSpend } = forExpress;
  const app = express();
  app.use(express.json());
  app.use(keymeter(km, (req) => holdOfPath(req.path)));
  app.post('/work', (req, res) => {
    const spend = currentSpend(req);
    tell(spend, req.query.cost);
    res.status(Number(req.query.status ?? 200)).json({ reserved: spend.reservation.reserved });
  });
  app.post('/empty', (req, res) => {
    tell(currentSpend(req), req.query.cost);
    res.status(204).end();
  });
  app.post('/breaks', (req) => {
    tell(currentSpend(req), req.query.cost);
    throw new Error('a defect');
  });
  app.post('/slow', async (req, res) => {
    await seen.wait();
    tell(currentSpend(req), req.query.cost);
    if (req.query.breaks) throw new Error('a defect');
    res.json({});
  });
  app.post('/stream', async (req, res) => {
    const { told = 'true', count, breaks } = req.query;
    for await (const part of parts(currentSpend(req), count, told === 'true', seen)) {
      if (res.closed) break;
      await new Promise((sent) => res.write(part, sent));
      if (breaks) res.destroy();
    }
    res.end();
  });
  app.post('/own', keymeter(km, '0.00002'), (req, res) => {
    tell(currentSpend(req), 4);
    res.json(currentSpend(req).reservation.reserved);
  });
  app.post('/own/fixed', keymeter(km, { quota: 7 }), (req, res) => {
    res.json(currentSpend(req).reservation.reserved);
  });
  const ofBody = keymeter(km, (req) => holdOfBody(req.body));
  app.post('/own/body', ofBody, (req, res) => {
    tell(currentSpend(req), 1);
    res.json({ max_tokens: req.body.max_tokens, reserved: currentSpend(req).reservation.reserved });
  });
  app.post('/own/twice', keymeter(km, '0.00002'), keymeter(km, '0.00004'), (_, res) => {
    res.send('it has two holds');
  });
  app.get('/free', (_, res) => {
    res.json('free');
  });
  app.get('/free/charges', async (req, res) => {
    const { charged } = await km.charge(String(req.query.key), { quota: 3 });
    res.json(charged);
  });
  app.get('/free/none', (req, res) => {
    res.json(currentSpend(req).usd);
  });
  app.use(keymeterErrors(km));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return siteOf(server);
};

function siteOf(server: Server): Site {
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
