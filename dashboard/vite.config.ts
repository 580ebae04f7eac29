import react from '@vitejs/plugin-react';
import { loadEnv } from 'vite';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => {
  const { KEYMETER_URL = 'http://127.0.0.1:3000' } = loadEnv(mode, '.', 'KEYMETER_');
  return {
    plugins: [react()],
    server: {
      // Keeps the Host header, because the server refuses writes from another origin.
      proxy: { '/api': { target: KEYMETER_URL, changeOrigin: false } },
    },
    build: {
      assetsDir: 'assets',
      // One style sheet, because those of pages are small and each would be one more request.
      cssCodeSplit: false,
      rolldownOptions: {
        output: {
          codeSplitting: {
            // What all pages need is one file, and what some pages share is another. Without groups, each shared module is
            // a file, and a page loads dozens.
            groups: [
              { name: 'app', tags: ['$initial'], priority: 1 },
              { name: 'shared', minShareCount: 2 },
            ],
          },
        },
      },
    },
    test: { include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/test/setup.ts'] },
  };
});
