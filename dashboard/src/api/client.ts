import createClient from 'openapi-fetch';
import { texts } from '../texts';
import { reportResult } from './connection';
import { ApiError, type Fault } from './error';
import type { paths } from './schema';

// The server stops after 30 seconds. This limit is for connections that were lost without an error.
const TIMEOUT_MS = 40_000;

/** The typed API. Pass the result of each request to `call`. */
export const api = createClient<paths>({
  fetch: (request) =>
    fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]) }),
});

interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

// A text is the answer as CSV, which `call` never asks for.
type Payload<Body> = Body extends { data: infer Data } ? Data : Body extends string ? never : undefined;

/** Returns the `data` of the envelope. Throws an `ApiError` for every failure. */
export async function call<Body>(pending: Promise<Answer<Body>>): Promise<Payload<Body>> {
  let answer: Answer<Body>;
  try {
    answer = await pending;
  } catch (reason) {
    // The page cancelled the request. This says nothing about the server.
    if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
    // JSON that cannot be parsed was not written by the API.
    const failure = reason instanceof SyntaxError ? unexpectedAnswer(200) : unreachable();
    reportResult(failure);
    throw failure;
  }
  // A server setting can report failures with status 200, so the envelope decides.
  const body: unknown = answer.data ?? answer.error;
  const failure = isEnvelope(body)
    ? refusal(body, answer.response)
    : unexpectedAnswer(answer.response.status);
  reportResult(failure);
  if (failure) throw failure;
  return (body as { data?: unknown }).data as Payload<Body>;
}

/** The `data` of an answer about one thing, and the version of that thing. */
export interface Versioned<Data> {
  data: Data;
  /** For `If-Match`. */
  etag: string | undefined;
}

/** Like `call`, with the `ETag` of the answer. */
export async function callVersioned<Body>(pending: Promise<Answer<Body>>): Promise<Versioned<Payload<Body>>> {
  const data = await call(pending);
  const { response } = await pending;
  return { data, etag: response.headers.get('ETag') ?? undefined };
}

interface Envelope {
  success: boolean;
  message?: string;
  error?: string;
  id?: number;
  faults?: Fault[];
}

function isEnvelope(body: unknown): body is Envelope {
  return typeof body === 'object' && body !== null && 'success' in body && typeof body.success === 'boolean';
}

function refusal(body: Envelope, response: Response): ApiError | undefined {
  if (body.success) return undefined;
  const wait = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new ApiError(
    response.status,
    body.error ?? 'unknown',
    body.message ?? texts.common.failure.unexpected,
    Number.isFinite(wait) ? wait : undefined,
    body.id,
    undefined,
    body.faults,
  );
}

/** For a response without an envelope, which comes from a proxy and not from the server. */
function unexpectedAnswer(status: number): ApiError {
  return new ApiError(status, 'unexpected_answer', texts.common.failure.unexpected);
}

function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', texts.common.failure.unreachable);
}
