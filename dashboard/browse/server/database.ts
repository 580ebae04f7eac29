import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Database {
  /** Absent: the one that the program brings along. */
  url?: string;
  drop: () => Promise<void>;
}

/** A new one on the PostgreSQL of `DATABASE_URL`, where there is one. */
export async function createDatabase(): Promise<Database> {
  const { DATABASE_URL, PG_BIN } = process.env;
  if (!DATABASE_URL) return { drop: async () => {} };
  // Some builds of the server come without it.
  const beside = PG_BIN && join(PG_BIN, 'psql');
  const psql = beside && existsSync(beside) ? beside : 'psql';
  const say = (statement: string) =>
    promisify(execFile)(psql, [DATABASE_URL, '--quiet', '--no-psqlrc', '--command', statement]);

  const name = `keymeter_browse_${randomBytes(6).toString('hex')}`;
  await say(`CREATE DATABASE ${name}`);
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await say(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
