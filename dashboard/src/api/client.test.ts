import { afterEach, describe, expect, it, vi } from 'vitest';
import { texts } from '../texts';
import { ApiError } from './error';

const fetchStub = vi.fn<() => Promise<Response>>();
vi.stubGlobal('fetch', fetchStub);
// Requests in Node.js need a whole URL.
vi.stubGlobal(
  'Request',
  class extends Request {
    constructor(url: string, init?: RequestInit) {
      super(new URL(url, 'http://keymeter.test'), init);
    }
  },
);
const { api, call, callVersioned } = await import('./client');

afterEach(() => fetchStub.mockReset());

async function failureOf(response: Response | Error): Promise<ApiError> {
  if (response instanceof Error) fetchStub.mockRejectedValue(response);
  else fetchStub.mockResolvedValue(response);
  const failure = await call(api.GET('/api/status')).catch((error: unknown) => error);
  if (!(failure instanceof ApiError)) throw new Error(`no ApiError but ${String(failure)}`);
  return failure;
}

function html(status: number) {
  return new Response('<h1>Oops</h1>', { status, headers: { 'content-type': 'text/html' } });
}

describe('call', () => {
  it('reports the refusal of the server', async () => {
    const body = { success: false, message: 'too many requests', error: 'rate_limited' };
    const failure = await failureOf(Response.json(body, { status: 429, headers: { 'Retry-After': '7' } }));
    expect(failure).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: 7 });
  });

  it.each([
    ['reports_busy', true],
    ['rate_limited', false],
  ])('takes a refusal with 429 %s for transient: %s', async (error, isTransient) => {
    const failure = await failureOf(Response.json({ success: false, message: '', error }, { status: 429 }));
    expect(failure).toMatchObject({ code: error, isTransient });
  });

  it('knows which of many is the reason, and its name', async () => {
    const body = { success: false, message: 'the token is expired', error: 'token_expired', id: 7 };
    const failure = await failureOf(Response.json(body, { status: 409 }));
    expect(failure.aboutOneOf([{ id: 7, name: 'Website' }])).toMatchObject({
      status: 409,
      code: 'token_expired',
      about: 'Website',
    });
    expect(failure.aboutOneOf([]).about).toBeUndefined();
  });

  it('knows what is wrong with each of many', async () => {
    const faults = [{ line: 2, username: 'ana', error: 'not_found', message: 'there is no such user' }];
    const body = { success: false, message: 'line 2: no such user', error: 'not_found', faults };
    expect((await failureOf(Response.json(body, { status: 404 }))).faults).toEqual(faults);
    const other = { success: false, message: 'no such user', error: 'not_found' };
    expect((await failureOf(Response.json(other, { status: 404 }))).faults).toEqual([]);
  });

  it('does not call a server unreachable that answers something else', async () => {
    const failure = await failureOf(html(500));
    expect(failure).toMatchObject({ status: 500, code: 'unexpected_answer', isTransient: false });
    expect(failure.message).toBe(texts.common.failure.unexpected);
    expect(failure.isUnreachable).toBe(false);
  });

  it.each([502, 503, 504])('takes status %d of a proxy for an outage of the server', async (status) => {
    expect(await failureOf(html(status))).toMatchObject({ status, isUnavailable: true, isTransient: true });
  });

  it('refuses a page in place of an answer', async () => {
    expect(await failureOf(html(200))).toMatchObject({ code: 'unexpected_answer', isUnreachable: false });
  });

  it('reports a broken connection as unreachable', async () => {
    const failure = await failureOf(new TypeError('Failed to fetch'));
    expect(failure).toMatchObject({ status: 0, code: 'unreachable', isTransient: true });
  });
});

describe('callVersioned', () => {
  const body = { success: true, message: '', data: { version: 'v1' } };

  it.each([
    [{ ETag: '"7"' }, '"7"'],
    [{}, undefined],
  ])('has the version of %o', async (headers, etag) => {
    fetchStub.mockResolvedValue(Response.json(body, { headers }));
    expect(await callVersioned(api.GET('/api/status'))).toEqual({ data: body.data, etag });
  });

  it('throws what call throws', async () => {
    fetchStub.mockResolvedValue(html(500));
    await expect(callVersioned(api.GET('/api/status'))).rejects.toMatchObject({ code: 'unexpected_answer' });
  });
});
