/**
 * Meters an Express application: a hold before each request, and its cost when the answer was sent or the client left.
 *
 * @module
 */

import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Keymeter } from './client.ts';
import { KeymeterError } from './errors.ts';
import { begin, begun, failure, type Hold, holdOf, NO_WEBSOCKETS } from './metering.ts';
import { refusalOf } from './openai.ts';
import { type Spend, ttlOf } from './spend.ts';

export type { Hold, RequestHold } from './metering.ts';

const spends = new WeakMap<Request, Spend>();

/**
 * Refuses requests whose key may not be used for `hold`, and charges the others. The key is in `Authorization: Bearer` or
 * `x-api-key`, the address is `req.ip`.
 *
 * A request with an answer is charged what `spend.cost` was told, or the whole hold if it was told nothing. One that fails
 * before its answer, or whose answer has a status of 400 or more, is charged what was told.
 */
export function keymeter(km: Keymeter, hold: Hold<Request>): RequestHandler {
  return async (req, res, next) => {
    try {
      const request = await holdOf(hold, req);
      if (request) {
        const spend = await begin(km, request, {
          spend: spends.get(req),
          header: (name) => header(req, name),
          address: () => req.ip,
        });
        if (!spend) {
          res.status(NO_WEBSOCKETS.status).send(NO_WEBSOCKETS.text);
          return;
        }
        spends.set(req, spend);
        endWith(spend, res, ttlOf(request));
      }
    } catch (error) {
      if (error instanceof KeymeterError) answer(error, res, km);
      else next(error);
      return;
    }
    next();
  };
}

/** Answers the refusals of the handlers' own calls, such as of `km.charge`. Goes after the handlers. */
export function keymeterErrors(km: Keymeter): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (error instanceof KeymeterError && !res.headersSent) answer(error, res, km);
    else next(error);
  };
}

/** The spend of this request. Call its `cost`. */
export function currentSpend(req: Request): Spend {
  return begun(spends.get(req));
}

/** Ends the spend when the answer was sent; if the client leaves, at once or, before the answer, with the handler. */
function endWith(spend: Spend, res: Response, ttlSeconds: number): void {
  const finish = (status?: number) => void spend.end(failure(status));
  const left = () => {
    if (res.headersSent) {
      finish(res.statusCode);
      return;
    }
    // The handler still works, and may tell its cost. It ends by its answer, which nobody gets, or by the time of the hold.
    const timer = setTimeout(finish, ttlSeconds * 1000);
    timer.unref();
    const end = res.end;
    res.end = ((...parts: Parameters<typeof end>) => {
      clearTimeout(timer);
      finish(res.statusCode);
      return end.apply(res, parts);
    }) as typeof end;
  };
  if (res.closed) left();
  else res.once('close', left);
}

function header(req: Request, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function answer(error: KeymeterError, res: Response, km: Keymeter): void {
  const { status, headers, body } = refusalOf(error, km.log);
  res.status(status).set(headers).json(body);
}
