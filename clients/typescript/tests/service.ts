/** The real program on its own private PostgreSQL, and a proxy in front of it that loses answers. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './wait.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PASSWORD = 'the password of a test';
// A group that not everyone may use, and a price.
const GROUPS = `
[groups.default]
description = ""
ratio = "1"
[groups.vip]
description = ""
ratio = "1"
open = false
`;
const PRICES = `
[prices]
"priced*" = { prompt = "5", completion = "30", cached = "0.5", cache_write = "2.5" }
`;

// biome-ignore lint/suspicious/noExplicitAny: what the administration answers is the test's to know
type Json = any;

/** What a test needs to reach a running service. */
export interface Address {
  readonly url: string;
  readonly credential: string;
  readonly rootToken: string;
}

export function program(): string {
  const found = process.env.KEYMETER_PROGRAM ?? join(ROOT, 'target/debug/keymeter');
  if (!existsSync(found)) throw new Error(`${found} is missing; build it with: cargo test --locked --no-run`);
  return found;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return address.port;
}

/** A running `keymeter serve`. It keeps its port and its data when it is started again. */
export class Service {
  readonly url: string;
  address!: Address;
  readonly #directory: string;
  readonly #command: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  #process?: ChildProcess;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#directory = mkdtempSync(join(tmpdir(), 'keymeter-typescript-'));
    // The private PostgreSQL of root runs as another account, which must reach its files.
    chmodSync(this.#directory, 0o711);
    const configuration = join(this.#directory, 'keymeter.toml');
    writeFileSync(configuration, GROUPS + PRICES);
    this.#command = ['--config', configuration];
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('KEYMETER_') || name === 'KEYMETER_DATABASE__PROGRAMS',
    );
    this.#environment = {
      ...Object.fromEntries(inherited),
      KEYMETER_DATA_DIR: join(this.#directory, 'data'),
      KEYMETER_SERVER__LISTEN: `127.0.0.1:${port}`,
      KEYMETER_ROOT__PASSWORD: PASSWORD,
      KEYMETER_SERVER__STOP_DELAY_SECONDS: '0',
      KEYMETER_LIMITS__DROP_IN_PER_MINUTE: '0',
    };
  }

  static async started(): Promise<Service> {
    const service = new Service(await freePort());
    await service.start();
    const rootToken = await signIn(service.url, 'root');
    const root = new Administration({ url: service.url, credential: '', rootToken });
    service.address = { url: service.url, credential: await root.gateway(), rootToken };
    return service;
  }

  async start(): Promise<void> {
    const log = openSync(join(this.#directory, 'log'), 'a');
    const started = spawn(program(), [...this.#command, 'serve'], {
      env: this.#environment,
      stdio: ['ignore', log, log],
    });
    this.#process = started;
    await until('the service is ready', async () => {
      if (started.exitCode !== null) throw new Error(`the service did not start:\n${this.output()}`);
      const ready = await fetch(`${this.url}/readyz`).catch(() => undefined);
      return ready?.status === 200;
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  async kill(): Promise<void> {
    await this.#stop('SIGKILL');
  }

  /** Stops it; throws if its books are wrong or its log has a key. */
  async end(): Promise<void> {
    const report = spawnSync(program(), [...this.#command, 'doctor'], {
      env: this.#environment,
      encoding: 'utf8',
    });
    await this.#stop('SIGTERM');
    const output = this.output();
    rmSync(this.#directory, { recursive: true });
    if (report.status !== 0) throw new Error(`doctor: ${report.stdout}${report.stderr}`);
    if (output.includes('sk-')) throw new Error('the log of the service has a key');
  }

  output(): string {
    return readFileSync(join(this.#directory, 'log'), 'utf8');
  }

  async #stop(signal: NodeJS.Signals): Promise<void> {
    if (this.#process?.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill(signal);
    await exited;
  }
}

/** A new access token. */
async function signIn(url: string, username: string): Promise<string> {
  const body = JSON.stringify({ username, password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const login = await fetch(`${url}/api/user/login`, { method: 'POST', headers, body });
  const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]);
  const answer = await fetch(`${url}/api/user/token`, {
    headers: { cookie: cookie.join('; '), origin: url },
  });
  return ((await answer.json()) as Json).data;
}

/** What administrators and people do. */
export class Administration {
  readonly service: Address;

  constructor(service: Address) {
    this.service = service;
  }

  async call(method: string, path: string, token: string, body?: unknown): Promise<Json> {
    const answer = await fetch(this.service.url + path, {
      method,
      headers: {
        authorization: token,
        prefer: 'return=representation',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text || '{}').data;
  }

  root(method: string, path: string, body?: unknown): Promise<Json> {
    return this.call(method, path, this.service.rootToken, body);
  }

  /** The credential of a new gateway. */
  async gateway(): Promise<string> {
    return (await this.root('POST', '/api/admin/gateways', { name: `gateway ${unique()}` })).credential;
  }

  /** A person with a wallet, by default one that is always enough. */
  async account(wallet = 10 ** 12, fields: object = {}): Promise<Account> {
    const username = `user${unique()}`.slice(0, 20);
    const body = {
      username,
      password: PASSWORD,
      token_api_enabled: true,
      quota: wallet,
      group: 'default',
      ...fields,
    };
    const { id } = await this.root('POST', '/api/admin/users', body);
    return new Account(this, id, await signIn(this.service.url, username));
  }
}

/** Test files run in processes of their own. */
function unique(): string {
  return crypto.randomUUID().slice(0, 13);
}

export class Key {
  readonly text: string;
  readonly tokenId: number;
  readonly #account: Account;

  constructor(account: Account, text: string, tokenId: number) {
    this.#account = account;
    this.text = text;
    this.tokenId = tokenId;
  }

  /** What the key was charged, and what is held on it. */
  async used(): Promise<number> {
    return (await this.#account.call('GET', `/api/token/${this.tokenId}/details`)).used_quota;
  }

  charges(): Promise<Json[]> {
    return this.#account.administration.call('GET', '/api/log/token', `Bearer ${this.text}`);
  }

  async disable(): Promise<void> {
    await this.#account.call('PUT', '/api/token/?status_only=1', { id: this.tokenId, status: 2 });
  }
}

/** Who makes keys. */
export class Account {
  readonly administration: Administration;
  readonly userId: number;
  readonly accessToken: string;

  constructor(administration: Administration, userId: number, accessToken: string) {
    this.administration = administration;
    this.userId = userId;
    this.accessToken = accessToken;
  }

  call(method: string, path: string, body?: unknown): Promise<Json> {
    return this.administration.call(method, path, this.accessToken, body);
  }

  /** A key with that quota, or with none of its own. */
  async key(remainQuota?: number, fields: object = {}): Promise<Key> {
    const quota = remainQuota === undefined ? { unlimited_quota: true } : { remain_quota: remainQuota };
    const name = `key ${unique()}`;
    const made = await this.call('POST', '/api/token/', { name, ...quota, ...fields });
    return new Key(this, made.key, made.id);
  }
}

/** Passes requests on. After `keep` answers it loses the next `drop` requests, and the next `lose` answers that the service gave. */
export class LossyProxy {
  readonly url: string;
  keep = 0;
  drop = 0;
  lose = 0;
  lost = 0;
  passed = 0;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #stalled: (() => void)[] = [];
  #stalls = false;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${portOf(server)}`;
    server.on('connection', (client) => this.#serve(client, target));
  }

  static async before(service: { readonly url: string }): Promise<LossyProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LossyProxy(server, Number(new URL(service.url).port));
  }

  /** Keeps answers back, until it is told not to. */
  set stalls(stalls: boolean) {
    this.#stalls = stalls;
    if (!stalls) for (const go of this.#stalled.splice(0)) go();
  }

  #serve(client: Socket, target: number): void {
    this.#clients.add(client);
    const service = connect(target, '127.0.0.1');
    const end = () => {
      client.destroy();
      service.destroy();
      this.#clients.delete(client);
    };
    for (const socket of [client, service]) socket.on('error', end).on('close', end);
    client.on('data', (request) => {
      if (this.keep === 0 && this.drop > 0 && isHead(request)) {
        this.drop -= 1;
        end();
      } else {
        service.write(request);
      }
    });
    service.on('data', (answer) => {
      const pass = () => {
        if (this.keep > 0) {
          this.keep -= 1;
        } else if (this.lose > 0) {
          this.lose -= 1;
          this.lost += 1;
          end();
          return;
        }
        this.passed += 1;
        client.write(answer);
      };
      if (this.#stalls) this.#stalled.push(pass);
      else pass();
    });
  }

  /** Refuses connections, and ends those it has. */
  close(): void {
    this.#server.close();
    for (const client of this.#clients) client.destroy();
  }
}

/** The body of a request may come by itself. */
function isHead(data: Buffer): boolean {
  return data.subarray(0, 5).toString() === 'POST ';
}
