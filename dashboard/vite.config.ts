import react from '@vitejs/plugin-react';
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';
import { chunks } from './chunks.ts';

export default defineConfig(({ mode }) => {
  const { KEYMETER_URL = 'http://127.0.0.1:3000' } = loadEnv(mode, '.', 'KEYMETER_');
  const { plugin, groups } = chunks();
  return {
    plugins: [react(), plugin],
    server: {
      // Keeps the Host header, because the server refuses writes from another origin.
      proxy: {
        '/api': { target: KEYMETER_URL, changeOrigin: false },
        '/dashboard-logo': { target: KEYMETER_URL, changeOrigin: false },
        '/readyz': { target: KEYMETER_URL, changeOrigin: false },
      },
    },
    build: {
      assetsDir: 'assets',
      // One style sheet, because those of pages are small and each would be one more request.
      cssCodeSplit: false,
      rolldownOptions: { output: { codeSplitting: { groups, includeDependenciesRecursively: false } } },
    },
    test: { include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/test/setup.ts'] },
  };
});
