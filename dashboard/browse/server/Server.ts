import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type Database } from './database';

const DASHBOARD = resolve(import.meta.dirname, '../..');
const BINARY = resolve(process.env.KEYMETER_BIN ?? join(DASHBOARD, '../target/debug/keymeter'));
const DIST = resolve(process.env.KEYMETER_DASHBOARD__DIR ?? join(DASHBOARD, 'dist'));
const ADDRESS = /listens on (http:\/\/\S+)/;

/** The password of `root` and of all demo users. */
export const PASSWORD = 'a-password-for-tests';

export interface ServerOptions {
  /** Creates the demo accounts, keys and three months of charges. */
  demo?: boolean;
  settings?: Record<string, string>;
  /** The content of a settings file, for settings that have no environment variable. */
  settingsFile?: string;
}

/** The real program with the built dashboard, with its own data and port. */
export class Server {
  private process: ChildProcess | undefined;
  private address: string | undefined;

  private constructor(
    private readonly directory: string,
    private readonly database: Database,
    private readonly settings: Record<string, string>,
  ) {}

  static async start({ demo = false, settings = {}, settingsFile }: ServerOptions = {}): Promise<Server> {
    if (!existsSync(BINARY))
      throw new Error(`${BINARY} does not exist. Run cargo build, or set KEYMETER_BIN`);
    if (!existsSync(join(DIST, 'index.html'))) throw new Error(`${DIST} does not exist. Run npm run build`);
    const directory = await mkdtemp(join(tmpdir(), 'keymeter-browse-'));
    const server = new Server(directory, await createDatabase(), settings);
    // The server ends with the tests.
    process.once('exit', () => server.killAndDelete());
    try {
      if (settingsFile !== undefined) await writeFile(server.settingsPath, settingsFile);
      await server.run(...(demo ? ['--demo'] : []));
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get url(): string {
    if (!this.address) throw new Error('the server has not started');
    return this.address;
  }

  /** Ends the server without a shutdown, like a crash. */
  async kill() {
    await this.end('SIGKILL');
  }

  /** Starts the server again with the same address and data. */
  async startAgain() {
    await this.run();
  }

  /** Runs a command of the program on the data of the server. */
  async command(...args: string[]) {
    await promisify(execFile)(BINARY, args, { env: this.environment() });
  }

  /** Runs a statement on the database, for rows that the API refuses today and that older versions wrote. */
  async sql(statement: string) {
    if (!this.database.execute) throw new Error('needs DATABASE_URL');
    await this.database.execute(statement);
  }

  /** Ends the server and deletes its data. */
  async stop() {
    await this.end('SIGTERM');
    await this.database.drop();
    await rm(this.directory, { recursive: true, force: true });
  }

  private get settingsPath(): string {
    return join(this.directory, 'settings.toml');
  }

  private async run(...options: string[]) {
    const file = existsSync(this.settingsPath) ? ['--config', this.settingsPath] : [];
    const started = spawn(BINARY, ['serve', ...file, ...options], {
      env: this.environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process = started;
    this.address = await addressOf(started);
  }

  private async end(signal: NodeJS.Signals) {
    const running = this.process;
    this.process = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  }

  private killAndDelete() {
    this.process?.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  private environment(): NodeJS.ProcessEnv {
    const outer = Object.entries(process.env).filter(([name]) => !/^(KEYMETER_|DATABASE_URL$)/.test(name));
    return {
      ...Object.fromEntries(outer),
      ...(this.database.url && { DATABASE_URL: this.database.url }),
      KEYMETER_DATA_DIR: this.directory,
      KEYMETER_DASHBOARD__DIR: DIST,
      KEYMETER_SERVER__LISTEN: this.address ? new URL(this.address).host : '127.0.0.1:0',
      KEYMETER_SERVER__DRAIN_SECONDS: '2',
      KEYMETER_ROOT__PASSWORD: PASSWORD,
      KEYMETER_LIMITS__LOGIN_PER_MINUTE: '0',
      ...this.settings,
    };
  }
}

/** Waits until the program prints its URL. */
function addressOf(started: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      const address = ADDRESS.exec(output)?.[1];
      if (address) found(address);
    };
    started.stdout?.on('data', read);
    started.stderr?.on('data', read);
    started.once('error', failed);
    started.once('exit', () => failed(new Error(`the server ended during start:\n${output}`)));
  });
}
