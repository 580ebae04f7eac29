/** No proxy of the environment reads what is not encrypted: the package as it is built, in each runtime. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Keymeter } from '../src/index.ts';
import { service } from './context.ts';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('..', import.meta.url));
const CREDENTIAL = 'kmg_a-credential-that-no-proxy-may-see';
const directory = mkdtempSync(join(tmpdir(), 'keymeter-direct-'));

beforeAll(() => {
  mkdirSync(join(directory, 'node_modules/@keymeter'), { recursive: true });
  symlinkSync(HERE, join(directory, 'node_modules/@keymeter/client'));
  // Older versions of Node.js use a proxy of the environment only with this package.
  symlinkSync(join(HERE, 'node_modules/undici'), join(directory, 'node_modules/undici'));
});
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Listens, keeps what it gets, and answers that. */
async function listener(answer: string): Promise<{ readonly url: string; readonly got: string[] }> {
  const got: string[] = [];
  const server = createServer((connection) => {
    connection.on('error', () => undefined);
    connection.once('data', (data) => {
      got.push(data.toString());
      connection.end(answer);
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

const NODE = `import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici';
setGlobalDispatcher(new EnvHttpProxyAgent());
`;
const PROGRAM = `import { Keymeter } from '@keymeter/client';
for (const url of process.argv.slice(2)) {
  const km = new Keymeter({ url, credential: process.env.KEYMETER_CREDENTIAL });
  console.log(await km.verify('sk-1').then(({ reason }) => reason, (error) => error.message));
  await km.close();
}
`;
const BIN = join(HERE, 'node_modules/.bin');
const DENO = [
  'run',
  '--no-remote',
  '--node-modules-dir=manual',
  '--allow-net',
  '--allow-env=KEYMETER_CREDENTIAL',
];

describe.each([
  ['Node.js', NODE, process.execPath, []],
  ['Bun', '', join(BIN, 'bun'), []],
  ['Deno', '', join(BIN, 'deno'), DENO],
])('%s', (name, first, executable, args) => {
  const asks = async (credential: string, proxy: string, ...urls: string[]) => {
    const file = join(directory, `${name}.mjs`);
    writeFileSync(file, first + PROGRAM);
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
    const env = {
      ...process.env,
      ...Object.fromEntries(names.map((name) => [name, proxy])),
      NO_PROXY: '',
      no_proxy: '',
      NODE_USE_ENV_PROXY: '1',
      KEYMETER_CREDENTIAL: credential,
    };
    return (await run(executable, [...args, file, ...urls], { cwd: directory, env })).stdout
      .trim()
      .split('\n');
  };

  test('no proxy sees what is not encrypted', async () => {
    const proxy = await listener('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    const local = service.url.replace('http://127.0.0.1', 'HTTP://LOCALHOST');
    const said = await asks(service.credential, proxy.url, service.url, local, 'http://keymeter.invalid');
    expect(said.slice(0, 2)).toEqual(['invalid_key', 'invalid_key']);
    expect(said[2]).toContain('no answer from Keymeter');
    expect(proxy.got).toEqual([]);
  });

  test('a proxy tunnels what is encrypted, and sees only the name of the service', async () => {
    const proxy = await listener('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    const [said] = await asks(CREDENTIAL, proxy.url, 'https://keymeter.invalid');
    expect(said).toContain('no answer from Keymeter');
    expect(proxy.got.length).toBeGreaterThan(0);
    for (const got of proxy.got) {
      expect(got).toMatch(/^CONNECT keymeter\.invalid:443 HTTP\/1\.1\r\n/);
      expect(got).not.toContain(CREDENTIAL);
      expect(got.toLowerCase()).not.toContain('\nauthorization');
    }
  });
});

test.each(['1.3.14', '1.1.0', '0.8.1'])(
  'Bun %s, which cannot avoid a proxy, is refused with one',
  (version) => {
    vi.stubGlobal('Bun', { version });
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']) vi.stubEnv(name, '');
    const make = (url: string) => new Keymeter({ url, credential: CREDENTIAL });
    make('http://127.0.0.1:1');
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']) {
      vi.stubEnv(name, 'http://127.0.0.1:2');
      expect(() => make('http://127.0.0.1:1')).toThrow(`the proxy of ${name} would read the credential`);
      make('https://127.0.0.1:1');
      vi.stubEnv(name, '');
    }
  },
);

test('Bun that avoids a proxy is not refused with one', () => {
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:2');
  for (const version of ['1.4.0', '1.10.0', '2.0.0', '10.1.0']) {
    vi.stubGlobal('Bun', { version });
    new Keymeter({ url: 'http://127.0.0.1:1', credential: CREDENTIAL });
  }
});

test('an old Deno, which cannot avoid a proxy, is refused', () => {
  vi.stubGlobal('Deno', {});
  vi.stubGlobal('process', undefined);
  expect(() => new Keymeter({ url: 'http://127.0.0.1:1', credential: CREDENTIAL })).toThrow('use Deno 2');
  new Keymeter({ url: 'https://127.0.0.1:1', credential: CREDENTIAL });
});

test('another fetch may be given for what is not encrypted too', async () => {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return new Response('{"success":false,"error":"invalid_key","message":"m"}', { status: 401 });
  };
  const km = new Keymeter({ url: 'http://127.0.0.1:1', credential: CREDENTIAL, fetch });
  await expect(km.verify('sk-1')).rejects.toThrow('m');
  expect(asked).toEqual(['http://127.0.0.1:1/api/gateway/verify']);
});

test.each([
  ['HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n', 'no answer from Keymeter (RangeError)'],
  ['HTTP/1.1 204 No Content\r\n\r\n', 'the answer is not one of Keymeter (HTTP status 204)'],
  [
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    'no answer from Keymeter',
  ],
  ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"suc', 'no answer from Keymeter'],
  ['HTTP/1.1 200 OK\r\nX-\u0001: 1\r\n\r\n', 'no answer from Keymeter'],
  ['what is no HTTP', 'no answer from Keymeter'],
  [`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(5_000_000)}`, 'the answer is too long'],
])('an odd answer is no answer: %#', async (answer, said) => {
  const { url, got } = await listener(answer);
  const km = new Keymeter({ url, credential: CREDENTIAL });
  await expect(km.verify('sk-1')).rejects.toThrow(said);
  expect(got.length).toBeGreaterThan(0);
});

test('a redirect is not followed, because it would carry the credential to another server', async () => {
  const other = await listener('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const { url } = await listener(
    `HTTP/1.1 307 Moved\r\nLocation: ${other.url}/\r\nContent-Length: 0\r\n\r\n`,
  );
  await expect(new Keymeter({ url, credential: CREDENTIAL }).verify('sk-1')).rejects.toThrow(
    'HTTP status 307',
  );
  expect(other.got).toEqual([]);
});
