import { defineConfig } from '@playwright/test';
import type { WorkerOptions } from './harness/test';

/** Each project uses one of the two servers, which `startServers.ts` starts once a run. */
export default defineConfig<object, WorkerOptions>({
  globalSetup: './server/startServers.ts',
  fullyParallel: true,
  // Tests wait more than they compute; this many keep two processors busy.
  workers: 3,
  timeout: 180_000,
  expect: { timeout: 30_000 },
  // A browser on a busy machine may be too slow once. The output names the tests that were repeated.
  retries: process.env.CI ? 1 : 0,
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list'], ['./harness/SlowestTests.ts']],
  outputDir: 'screenshots/failed',
  use: { actionTimeout: 30_000, navigationTimeout: 30_000 },
  projects: [
    { name: 'stories', testDir: 'stories', use: { server: 'empty' } },
    // One Firefox, beside the tests of the demo: its start takes longer than most tests.
    { name: 'firefox', testDir: 'firefox', workers: 1, use: { server: 'demo', browserName: 'firefox' } },
    { name: 'demo', testDir: 'demo', use: { server: 'demo' } },
    { name: 'screens', testDir: 'screens', use: { server: 'demo' } },
    { name: 'speed', testDir: 'speed', testMatch: '*.ts', use: { server: 'demo' } },
    { name: 'picture', testDir: 'picture', testMatch: '*.ts', use: { server: 'demo' } },
  ],
});
