import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'tests/setup.ts',
    include: ['tests/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    // Most of the time they wait for the service.
    maxWorkers: 3,
  },
});
