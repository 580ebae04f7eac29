import { expect, it } from 'vitest';
import { readFile } from './readFile';

it('reads UTF-8, without its mark', async () => {
  expect(await readFile(new Blob(['\ufeff李四,5\n']))).toBe('李四,5\n');
});

it('refuses a file in another encoding', async () => {
  const inGbk = new Blob([new Uint8Array([0xc0, 0xee, 0xcb, 0xc4, 0x2c, 0x35])]);
  await expect(readFile(inGbk)).rejects.toThrow('UTF-8');
});
