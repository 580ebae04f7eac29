import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Database {
  /** Absent for the private PostgreSQL of the program. */
  url?: string;
  /** Runs a statement, also one that the program would not. Only with `DATABASE_URL`. */
  execute?: (statement: string) => Promise<unknown>;
  drop: () => Promise<void>;
}

/** Creates a database on the PostgreSQL of `DATABASE_URL`. Without it, the program starts a private one. */
export async function createDatabase(): Promise<Database> {
  const { DATABASE_URL, PG_BIN } = process.env;
  if (!DATABASE_URL) return { drop: async () => {} };
  // Some PostgreSQL builds do not include psql.
  const beside = PG_BIN && join(PG_BIN, 'psql');
  const psql = beside && existsSync(beside) ? beside : 'psql';
  const execute = (statement: string, on = DATABASE_URL) =>
    promisify(execFile)(psql, [on, '--quiet', '--no-psqlrc', '--command', statement]);

  const name = `keymeter_browse_${randomBytes(6).toString('hex')}`;
  await execute(`CREATE DATABASE ${name}`);
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    execute: (statement) => execute(statement, url.href),
    drop: async () => {
      await execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
