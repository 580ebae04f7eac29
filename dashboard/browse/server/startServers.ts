import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asRoot } from '../harness/accounts';
import { setTwoPriceLists } from '../harness/prices';
import { Server } from './Server';
import { DIRECTORY, type ServerName, type Started } from './started';

/** Starts both servers, without waiting for them: stories run while the demo's data are created. */
export default async function startServers() {
  const directory = await mkdtemp(join(tmpdir(), 'keymeter-browse-run-'));
  // Processes of tests inherit it.
  process.env[DIRECTORY] = directory;
  const started = [
    start(directory, 'empty', { settings: { KEYMETER_ACCOUNTS__REGISTRATION: 'open' } }),
    start(
      directory,
      'demo',
      { demo: true, settings: { KEYMETER_DASHBOARD__API_BASE_URL: 'https://llm.example.org/v1' } },
      async (site) => setTwoPriceLists(await asRoot(site)),
    ),
  ];
  return async () => {
    const servers = await Promise.all(started);
    await Promise.all(servers.map((server) => server?.stop()));
    await rm(directory, { recursive: true, force: true });
  };
}

/** Starts a server, prepares it, and writes its address, or why it did not start, into a file of its name. */
async function start(
  directory: string,
  name: ServerName,
  options: Parameters<typeof Server.start>[0],
  prepare?: (site: string) => Promise<unknown>,
) {
  const write = async (content: Started) => {
    const file = join(directory, name);
    await writeFile(`${file}.new`, JSON.stringify(content));
    await rename(`${file}.new`, file);
  };
  try {
    const server = await Server.start(options);
    await prepare?.(server.url);
    await write({ site: server.url });
    return server;
  } catch (error) {
    await write({ error: String(error) });
  }
}
