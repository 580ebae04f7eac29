/** What is published: the README does what it says, and the package works where it is installed. */

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { KeymeterTokens, VERSION } from '../src/index.ts';
import { account, administration, service } from './context.ts';
import { PRICES } from './price-list.ts';
import { freePort, type Key, ROOT } from './service.ts';
import { until } from './wait.ts';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('..', import.meta.url));
const README = readFileSync(join(HERE, 'README.md'), 'utf8');
// Where it is installed from the packed file, as by a reader.
const directory = mkdtempSync(join(tmpdir(), 'keymeter-package-'));
// What a reader has: a model that costs a cent.
const MODEL = `
async function askModel(question) {
  return { text: 'Because of the air.', usage: { usd: 0.01, prompt: 900, completion: 400 } };
}
`;

let files: string[] = [];
let accessToken = '';

beforeAll(async () => {
  ({ accessToken } = await account());
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: HERE });
  const [packed] = JSON.parse(stdout);
  files = packed.files.map((file: { path: string }) => file.path);
  writeFileSync(join(directory, 'package.json'), '{ "private": true }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', `./${packed.filename}`];
  await run('npm', install, { cwd: directory });
  // These would come from npm.
  mkdirSync(join(directory, 'node_modules/@hono'));
  for (const name of ['hono', 'express', '@hono/node-server']) {
    symlinkSync(join(HERE, 'node_modules', name), join(directory, 'node_modules', name));
  }
});
afterAll(() => rmSync(directory, { recursive: true }));

const environment = () => ({
  ...process.env,
  KEYMETER_URL: service.url,
  KEYMETER_CREDENTIAL: service.credential,
  KEYMETER_ACCESS_TOKEN: accessToken,
  NO_COLOR: '1',
});

/** What a program prints. */
async function output(program: string, name: string, ...command: string[]): Promise<string> {
  writeFileSync(join(directory, name), program);
  const [executable = process.execPath, ...args] = command;
  const options = { cwd: directory, env: environment() };
  return (await run(executable, [...args, name], options)).stdout.trim();
}

function snippet(language: string, number: number): string {
  const found = [...README.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))][number]?.[1];
  if (found === undefined) throw new Error(`the README has no ${language} program ${number}`);
  return found;
}

test('the first program of the README charges and is refused', async () => {
  const key = await (await account()).key(10_000);
  const program = MODEL + snippet('js', 0).replace('sk-…', key.text);
  const said = /console.log\(String\(error\)\); \/\/ (.*)/.exec(program)?.[1];
  expect(await output(program, 'first.mjs')).toBe('Because of the air.');
  expect(await output(program, 'first.mjs')).toBe(said);
  expect(await key.used()).toBe(5_000);
  expect(await key.charges()).toMatchObject([
    { model_name: 'gpt-5', prompt_tokens: 900, completion_tokens: 400 },
  ]);
});

test('the program of the README with `await using` charges', async () => {
  const key = await (await account()).key(10_000);
  const program = `import { Keymeter } from '@keymeter/client';
const work = async () => '0.003';
${snippet('ts', 0).replace('sk-…', key.text)}`;
  await output(program, 'using.ts', join(HERE, 'node_modules/.bin/bun'));
  expect(await key.used()).toBe(1_500);
});

test('the program of the README about usage charges what each provider says', async () => {
  // What a reader has: SDKs, whose answers are objects of their own.
  const openai = '{ usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }';
  const sdk = (name: string, program: string) => {
    mkdirSync(join(directory, 'node_modules', name), { recursive: true });
    writeFileSync(
      join(directory, 'node_modules', name, 'package.json'),
      '{ "type": "module", "main": "main.js" }',
    );
    writeFileSync(join(directory, 'node_modules', name, 'main.js'), program);
  };
  sdk('openai', `export default class { chat = { completions: { create: async () => (${openai}) } } }`);
  const anthropic = '{ usage: { input_tokens: 100, output_tokens: 20 } }';
  sdk(
    '@anthropic-ai/sdk',
    `export default class { messages = { create: async () => ({ toJSON: () => (${anthropic}) }) } }`,
  );
  const google = '{ usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 30 } }';
  sdk('@google/genai', `export class GoogleGenAI { models = { generateContent: async () => (${google}) } }`);
  await administration.root('PUT', '/api/admin/prices', PRICES);
  const key = await (await account()).key();
  const http = `globalThis.fetch = async () => Response.json(${openai});\n`;
  expect(await output(http + snippet('js', 1).replace('sk-…', key.text), 'usage.mjs')).toBe('150');
  expect(await key.used()).toBe(150 + 200 + 250 + 150);
});

test.each([
  ['Hono', 2],
  ['Express', 3],
])('the application of the README in %s charges and is refused', async (name, number) => {
  const key = await (await account()).key(10_000);
  const port = await freePort();
  const file = `${name}.mjs`;
  writeFileSync(join(directory, file), MODEL + snippet('js', number).replace('8080', String(port)));
  const server = spawn(process.execPath, [file], { cwd: directory, env: environment(), stdio: 'inherit' });
  onTestFinished(() => void server.kill());
  const url = `http://127.0.0.1:${port}/v1/answers?question=Why`;
  const ask = () => fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key.text}` } });
  await until('it listens', () => fetch(url).then(Boolean, () => false));
  expect(await (await ask()).text()).toBe('Because of the air.');
  await until('it is settled', async () => (await key.used()) === 5_000);
  expect((await ask()).status).toBe(402);
});

test('the program of the README about keys creates and rotates one', async () => {
  const deploy = 'const keys = [];\nconst deploy = async (key) => keys.push(key);';
  const program = `${deploy}\n${snippet('js', 5)}\nconsole.log(...keys);`;
  const lines = (await output(program, 'keys.mjs')).split('\n');
  expect(lines).toContain('ci working 500000');
  const [first, second] = lines.at(-1)?.split(' ') ?? [];
  const tokens = new KeymeterTokens({ url: service.url, accessToken });
  const made = [];
  for await (const token of tokens.list()) if (token.name === 'ci') made.push(token);
  expect(made).toMatchObject([{ note: 'for the tests, and the builds' }]);
  const id = made[0]?.id ?? 0;
  expect(await tokens.reveal(id)).toBe(second);
  expect(second).not.toBe(first);
  expect(await tokens.oldKeys(id)).toHaveLength(1);
});

/** Uses every entry of the package, by `import` or `require`. */
function program(key: Key, port: number, load: string, isModule: boolean): string {
  const main = `
  const km = new Keymeter();
  await km.spend('${key.text}', { usd: '0.01' }, (spend) => spend.cost({ usd: '0.002' }));
  const error = await km.charge('${key.text}', { quota: 10 ** 9 }).catch((error) => error);
  const nobody = new Keymeter({ url: 'http://127.0.0.1:${port}', log: () => {} });
  const { sent } = await nobody.verify('sk-1').catch((error) => error);
  await km.close();
  console.log(error instanceof QuotaExhausted, error instanceof KeymeterError, error.status, sent, typeof hono.keymeter, typeof express.keymeter);
`;
  return `
${load}
${isModule ? main : `(async () => {${main}})();`}
`;
}

const IMPORT = `import { Keymeter, KeymeterError, QuotaExhausted } from '@keymeter/client';
import * as hono from '@keymeter/client/hono';
import * as express from '@keymeter/client/express';`;
const REQUIRE = `const { Keymeter, KeymeterError, QuotaExhausted } = require('@keymeter/client');
const hono = require('@keymeter/client/hono');
const express = require('@keymeter/client/express');`;

test.each([
  ['Node.js by import', 'main.mjs', IMPORT, []],
  ['Node.js by require', 'main.cjs', REQUIRE, []],
  ['Bun by import', 'bun.mjs', IMPORT, [join(HERE, 'node_modules/.bin/bun')]],
  ['Bun by require', 'bun.cjs', REQUIRE, [join(HERE, 'node_modules/.bin/bun')]],
  [
    'Deno by import',
    'deno.mjs',
    IMPORT,
    [
      join(HERE, 'node_modules/.bin/deno'),
      'run',
      '--no-remote',
      '--node-modules-dir=manual',
      '--allow-net',
      '--allow-env=KEYMETER_URL,KEYMETER_CREDENTIAL',
    ],
  ],
])('the installed package works in %s', async (_, file, load, command) => {
  const key = await (await account()).key(10_000);
  const said = await output(program(key, await freePort(), load, file.endsWith('.mjs')), file, ...command);
  expect(said).toBe('true true 402 false function function');
  expect(await key.used()).toBe(1_000);
});

test('the installed package works in a Cloudflare worker, as in the README', async () => {
  const key = await (await account()).key(10_000);
  const client = './node_modules/@keymeter/client/dist/index.mjs';
  writeFileSync(
    join(directory, 'worker.mjs'),
    `import { Keymeter } from '${client}';
export default {
  async fetch(request, env, ctx) {
    ${snippet('js', 4)}
    const spend = await km.open(env.KEY, { usd: '0.01' });
    spend.cost({ usd: '0.002' });
    const { code } = await km.charge(env.KEY, { quota: 10 ** 9 }).catch((error) => error);
    // Not awaited, so that it may be answered first.
    void spend.end();
    return new Response(code);
  },
};`,
  );
  const worker = new Miniflare({
    modules: true,
    modulesRules: [{ type: 'ESModule', include: ['**/*.mjs'] }],
    modulesRoot: directory,
    scriptPath: join(directory, 'worker.mjs'),
    compatibilityDate: '2026-04-01',
    bindings: { KEYMETER_URL: service.url, KEYMETER_CREDENTIAL: service.credential, KEY: key.text },
  });
  onTestFinished(() => worker.dispose());
  const answer = await worker.dispatchFetch('http://localhost/');
  expect(await answer.text()).toBe('token_quota_insufficient');
  await until('it is settled', async () => (await key.charges()).length === 1);
  expect(await key.used()).toBe(1_000);
});

test('the package has what it needs and nothing else', () => {
  const entries = ['index', 'hono', 'express'].flatMap((entry) =>
    ['mjs', 'cjs', 'd.mts', 'd.cts'].map((ending) => `dist/${entry}.${ending}`),
  );
  const others = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];
  expect(files).toEqual(expect.arrayContaining([...entries, ...others]));
  const unexpected = files.filter((file) => !file.startsWith('dist/') && !others.includes(file));
  expect(unexpected).toEqual([]);
  expect(packageJson).not.toHaveProperty('dependencies');
});

test('the installed package needs no type of another one', async () => {
  const config = {
    compilerOptions: { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true, types: [] },
    files: ['types.mts', 'types.cts'],
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  const uses = `import { Keymeter, type Spend } from '@keymeter/client';
export const used: (spend: Spend) => number | undefined = (spend) => spend.settled?.charged;
export const km: AsyncDisposable = new Keymeter({ url: 'http://127.0.0.1:1', credential: 'kmg_1' });
// @ts-expect-error an amount is text, a number or a bigint
export const wrong = new Keymeter().charge('sk-1', { usd: true });
`;
  writeFileSync(join(directory, 'types.mts'), uses);
  writeFileSync(join(directory, 'types.cts'), uses);
  const tsc = join(HERE, 'node_modules/.bin/tsc');
  const { stdout } = await run(tsc, ['-p', directory]).catch((error) => error);
  expect(stdout).toBe('');
});

test('the version is one', () => {
  const changes = readFileSync(join(HERE, 'CHANGELOG.md'), 'utf8');
  expect(/^## \[(.*?)\]/m.exec(changes)?.[1]).toBe(VERSION);
  expect(packageJson.version).toBe(VERSION);
});

test('the licence is that of the service', () => {
  expect(readFileSync(join(HERE, 'LICENSE'), 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
});

test('the locked tools come from npm', () => {
  const { packages } = JSON.parse(readFileSync(join(HERE, 'package-lock.json'), 'utf8'));
  const from = Object.values<{ resolved?: string }>(packages).map(({ resolved }) => resolved);
  expect(from.length).toBeGreaterThan(50);
  // The first is the package itself.
  const others = from.slice(1).filter((url) => !url?.startsWith('https://registry.npmjs.org/'));
  expect(others).toEqual([]);
});
