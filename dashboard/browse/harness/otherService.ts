import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './accounts';

const FIXTURES = resolve(import.meta.dirname, '../../../tests/it/import');

// Node.js 20 has no SQLite.
const MAKE = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.executescript(sys.stdin.read())
database.commit()`;

/** The root account of the fixture, and a user with eight keys. */
export const BOSS: Account = { username: 'boss', password: 'correct horse' };
export const OWNER: Account = { username: 'Ana', password: 'correct horse' };

/** Makes a SQLite file of new-api with every oddity, and returns its path. Requires Python. */
export async function newApiFile(directory: string): Promise<string> {
  const file = join(directory, 'one-api.db');
  const [schema, rows] = await Promise.all(
    ['new_api.sqlite.sql', 'new_api_rows.sql'].map((name) => readFile(join(FIXTURES, name), 'utf8')),
  );
  const made = promisify(execFile)('python3', ['-c', MAKE, file]);
  const now = String(Math.floor(Date.now() / 1000));
  // Groups other than the default one need a settings file.
  made.child.stdin?.end(`${schema}${rows}`.replaceAll('NOW', now).replaceAll("'vip'", "'default'"));
  await made;
  return file;
}
