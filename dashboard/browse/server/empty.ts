import type { TestProject } from 'vitest/node';
import { Server } from './Server';

export default async function serveEmpty(project: TestProject) {
  const server = await Server.start();
  project.provide('site', server.url);
  return () => server.stop();
}
