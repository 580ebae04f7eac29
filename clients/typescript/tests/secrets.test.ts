/** Neither the credential nor a key is in what is shown, logged or thrown. */

import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { Keymeter, type KeymeterError, KeymeterTokens } from '../src/index.ts';
import { account, administration, client, Lines, lossyProxy, service } from './context.ts';
import { until } from './wait.ts';

const CREDENTIAL = 'kmg_a-credential-that-nobody-may-see';

afterEach(() => {
  vi.unstubAllEnvs();
});

function shown(value: unknown): string {
  return inspect(value, { depth: 10, showHidden: true }) + JSON.stringify(value) + String(value);
}

test('nothing shows the credential or the key', async () => {
  const km = client();
  const key = await (await account()).key(100);
  const spend = await km.open(key.text, { quota: 5 });
  spend.cost({ quota: 1 });
  const parts = [km, spend, spend.reservation, await km.charge(key.text, { quota: 1 })];
  await spend.end();
  for (const part of [...parts, spend]) {
    expect(shown(part)).not.toContain(service.credential);
    expect(shown(part)).not.toContain(key.text.slice(3, 20));
  }
  expect(shown(km)).toContain(service.url);
});

test('no error and no line of the log has them', async () => {
  const lines = new Lines();
  const key = await (await account()).key(100, { models: ['o1'] });
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url, log: lines.log });
  const errors: KeymeterError[] = [];
  const fails = async (call: Promise<unknown>) => {
    errors.push(
      await call.then(
        () => expect.fail('it did not fail'),
        (error) => error,
      ),
    );
  };
  await fails(km.charge(key.text, { quota: 1, model: 'gpt-5' }));
  await fails(km.charge(key.text, { quota: -1 }));
  await fails(km.charge(key.text, { quota: 1, requestId: '\n' }));
  proxy.lose = 3;
  await fails(km.reserve(key.text, { quota: 1 }));
  proxy.lose = 3;
  await fails(km.verify(key.text));
  await km.spend(key.text, { quota: 5 }, () => {
    proxy.lose = 2;
  });
  await until('the log counts it', () => lines.text.includes('settlements wait'));
  for (const text of [lines.text, ...errors.map(shown), ...errors.map((error) => String(error.stack))]) {
    expect(text).not.toContain(service.credential);
    expect(text).not.toContain(key.text);
  }
  for (const error of errors) expect(error.cause).toBeUndefined();
});

test('nothing of the client for tokens shows the access token or a key', async () => {
  const { accessToken } = await administration.account();
  const proxy = await lossyProxy();
  const tokens = new KeymeterTokens({ url: proxy.url, accessToken });
  const made = await tokens.create('n');
  const [many] = await tokens.createMany([{ name: 'm' }]);
  const rotated = await tokens.rotate(made.id);
  const keys = [made.key, many?.key ?? '', rotated.key];
  expect(keys).toEqual(keys.map(() => expect.stringMatching(/^sk-\w{48}$/)));
  proxy.lose = 3;
  const lost = await tokens.reveal(made.id).catch((error) => error);
  const refused = await tokens.update(made.id, { ifMatch: '"1"', note: 'x' }).catch((error) => error);
  const listed = [];
  for await (const token of tokens.list()) listed.push(token);
  const parts = [tokens, made, many, rotated, lost, lost.stack, refused, refused.stack, listed];
  for (const text of [...parts, { ...made }, await tokens.get(made.id), await tokens.oldKeys(made.id)].map(
    shown,
  )) {
    for (const secret of [...keys, accessToken]) expect(text).not.toContain(secret.slice(3, 20));
  }
  await tokens.close();
  await expect(tokens.get(made.id)).rejects.toThrow('closed');
});

test('an access token is asked for by its name', async () => {
  vi.stubEnv('KEYMETER_URL', 'http://127.0.0.1:1');
  vi.stubEnv('KEYMETER_CREDENTIAL', CREDENTIAL);
  vi.stubEnv('KEYMETER_ACCESS_TOKEN', '');
  expect(() => new KeymeterTokens()).toThrow('set KEYMETER_ACCESS_TOKEN to an access token');
  vi.stubEnv('KEYMETER_ACCESS_TOKEN', ` ${CREDENTIAL}\n`);
  let headers: unknown;
  const fetch = async (_url: string, init: RequestInit) => {
    headers = init.headers;
    return new Response('{"success":false,"error":"not_found","message":"m"}', { status: 404 });
  };
  await expect(new KeymeterTokens({ fetch }).get(1)).rejects.toThrow('m');
  expect(headers).toMatchObject({ authorization: `Bearer ${CREDENTIAL}` });
});

test.each([
  ['', CREDENTIAL, 'set KEYMETER_URL to the address'],
  ['http://127.0.0.1:1', '', 'set KEYMETER_CREDENTIAL to a gateway credential'],
  ['127.0.0.1:3000', CREDENTIAL, 'must be an http or https address'],
  ['http://', CREDENTIAL, 'must be an http or https address'],
  ['http:127.0.0.1', CREDENTIAL, 'must be an http or https address'],
  ['ftp://127.0.0.1', CREDENTIAL, 'must be an http or https address'],
  [`http://127.0.0.1:1/?credential=${CREDENTIAL}`, CREDENTIAL, 'without a query'],
  [`http://me:${CREDENTIAL}@127.0.0.1:1`, CREDENTIAL, 'must not have a user'],
  ['http://127.0.0.1:1', `${CREDENTIAL}\nX-Other: 1`, 'must be printable ASCII'],
  ['http://127.0.0.1:1', `${CREDENTIAL}é`, 'must be printable ASCII'],
])('a wrong setting is refused without showing it: %s', (url, credential, said) => {
  vi.stubEnv('KEYMETER_URL', '');
  vi.stubEnv('KEYMETER_CREDENTIAL', '');
  try {
    new Keymeter({ url, credential });
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    expect(shown(error)).toContain(said);
    expect(shown(error)).not.toContain(CREDENTIAL);
    return;
  }
  expect.fail('it was not refused');
});

test('the settings come from the environment', async () => {
  vi.stubEnv('KEYMETER_URL', 'http://127.0.0.1:1/keys/');
  vi.stubEnv('KEYMETER_CREDENTIAL', ` ${CREDENTIAL}\n`);
  let asked: readonly unknown[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    asked = [url, init.headers];
    throw new Error('enough');
  };
  const km = new Keymeter({ fetch });
  expect(km.url).toBe('http://127.0.0.1:1/keys');
  await expect(km.verify('sk-1')).rejects.toThrow('no answer');
  expect(asked[0]).toBe('http://127.0.0.1:1/keys/api/gateway/verify');
  expect(asked[1]).toMatchObject({
    authorization: `Bearer ${CREDENTIAL}`,
    'user-agent': expect.stringMatching(/^keymeter-client-typescript\/\d/),
  });
  expect(new Keymeter({ url: 'http://127.0.0.1:2' }).url).toBe('http://127.0.0.1:2');
});

test('warnings and errors go to the console, and nothing else', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const said = (['log', 'info', 'debug', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(() => undefined),
  );
  const km = client({ url: proxy.url, log: undefined });
  await km.spend(key.text, { quota: 5 }, () => {
    proxy.lose = 2;
  });
  await until('it is settled', () => km.waiting === 0);
  expect(warned.mock.calls.flat()).toEqual([
    expect.stringMatching(/^keymeter: 1 settlements wait, next try in 0\.5 s: no answer from Keymeter/),
  ]);
  for (const other of said) expect(other).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
