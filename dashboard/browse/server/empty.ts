import type { TestProject } from 'vitest/node';
import { Server } from './Server';

export default async function serveEmpty(project: TestProject) {
  const server = await Server.start({ settings: { KEYMETER_ACCOUNTS__REGISTRATION: 'open' } });
  project.provide('site', server.url);
  return () => server.stop();
}
