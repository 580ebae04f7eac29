import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** `empty` is for stories, which create what they need; `demo` has accounts, keys and three months of charges. */
export type ServerName = 'empty' | 'demo';

/** The content of the file that has the name of a server. */
export type Started = { site: string } | { error: string };

/** The environment variable with the directory of these files. */
export const DIRECTORY = 'KEYMETER_BROWSE_RUN';

const PAUSE_MS = 100;

/** Waits until the server has started, and returns its URL. */
export async function siteOf(name: ServerName): Promise<string> {
  const file = join(process.env[DIRECTORY] ?? '', name);
  for (;;) {
    const content = await readFile(file, 'utf8').catch(() => undefined);
    if (content) {
      const started: Started = JSON.parse(content);
      if ('error' in started) throw new Error(`the server “${name}” did not start: ${started.error}`);
      return started.site;
    }
    await setTimeout(PAUSE_MS);
  }
}
