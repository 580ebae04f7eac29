import { defineConfig } from 'vitest/config';

const common = {
  root: import.meta.dirname,
  testTimeout: 300_000,
  hookTimeout: 60_000,
  // A browser on a busy machine may be too slow once. The output names the tests that were repeated.
  retry: process.env.CI ? 1 : 0,
  // Vitest's default of one second is too short for a page that is reloaded on a busy machine.
  expect: { poll: { timeout: 30_000 } },
};

/** Each project has its own server. */
export default defineConfig({
  test: {
    // Each file starts a browser, which is enough for two processors.
    maxWorkers: 2,
    // Time for the servers to end.
    teardownTimeout: 30_000,
    projects: [
      {
        test: {
          ...common,
          name: 'stories',
          include: ['stories/*.test.ts'],
          globalSetup: 'server/empty.ts',
        },
      },
      { test: { ...common, name: 'demo', include: ['demo/*.test.ts'], globalSetup: 'server/demo.ts' } },
      { test: { ...common, name: 'speed', include: ['speed/*.ts'], globalSetup: 'server/demo.ts' } },
      { test: { ...common, name: 'picture', include: ['picture/*.ts'], globalSetup: 'server/demo.ts' } },
    ],
  },
});
