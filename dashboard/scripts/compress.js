// Compresses the built files with brotli and gzip. The server sends the compressed files.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const dist = new URL('../dist', import.meta.url).pathname;
const smaller = /\.(html|js|css|svg|json)$/;

for (const name of readdirSync(dist, { recursive: true })) {
  const file = join(dist, name);
  if (!smaller.test(file) || statSync(file).size < 1024) {
    continue;
  }
  const text = readFileSync(file);
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(`${file}.br`, brotliCompressSync(text, brotli));
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
}
