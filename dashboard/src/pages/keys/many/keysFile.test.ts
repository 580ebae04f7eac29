import { expect, it } from 'vitest';
import { makeToken } from '../../../test/makeToken';
import { keysFile } from './keysFile';

it('has a line for each key, in the order of the answer, and no formula', () => {
  const names = ['Website', 'Nightly, "fast"', '=1+1', '测试'];
  const tokens = names.map((name, id) => makeToken({ id, name }));
  const rotated = [2, 0, 1, 3].map((id) => ({ id, key: `sk-${id}`, masked_key: '', old_keys: [] }));
  expect(keysFile(tokens, rotated)).toBe(
    '\ufeffname,key\r\n\'=1+1,sk-2\r\nWebsite,sk-0\r\n"Nightly, ""fast""",sk-1\r\n测试,sk-3\r\n',
  );
});
