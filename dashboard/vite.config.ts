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
      rolldownOptions: {
        output: {
          codeSplitting: {
            groups: [{ name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// }],
          },
        },
      },
    },
    test: { include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/test/setup.ts'] },
  };
});
