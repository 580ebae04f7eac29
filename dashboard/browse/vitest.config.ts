import { defineConfig } from 'vitest/config';

const common = { root: import.meta.dirname, testTimeout: 120_000, hookTimeout: 60_000 };

/** Each part has a server of its own, which is there as long as the part runs. */
export default defineConfig({
  test: {
    // A browser for each file keeps two small processors busy.
    maxWorkers: 2,
    // Waits for the servers to end.
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
      { test: { ...common, name: 'picture', include: ['picture/*.ts'], globalSetup: 'server/demo.ts' } },
    ],
  },
});
