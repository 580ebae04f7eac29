import type { TestProject } from 'vitest/node';
import { Server } from './Server';

export default async function serveDemo(project: TestProject) {
  const server = await Server.start({ demo: true });
  project.provide('site', server.url);
  return () => server.stop();
}
