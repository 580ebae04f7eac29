import { defineConfig } from 'tsdown';

// A bundler, because TypeScript itself writes ES modules and CommonJS, with types for both, only in two runs with two settings.
export default defineConfig({
  entry: ['src/index.ts', 'src/hono.ts', 'src/express.ts'],
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  dts: true,
  // For programs whose settings do not have `await using`.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  fixedExtension: true,
  report: false,
  logLevel: 'warn',
  inputOptions: { checks: { pluginTimings: false } },
});
