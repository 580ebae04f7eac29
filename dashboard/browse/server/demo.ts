import type { TestProject } from 'vitest/node';
import { Server } from './Server';

export default async function serveDemo(project: TestProject) {
  const server = await Server.start({
    demo: true,
    settings: { KEYMETER_DASHBOARD__API_BASE_URL: 'https://llm.example.org/v1' },
  });
  project.provide('site', server.url);
  return () => server.stop();
}
