import { describe, expect, it } from 'vitest';
import { joined } from './space';

describe('joined texts', () => {
  it.each([
    [['Last used', '3 days ago'], 'Last used 3 days ago'],
    [['上次使用', '3 天前'], '上次使用 3 天前'],
    [['上次使用', '刚刚'], '上次使用刚刚'],
    [['一。', '二。', '3。'], '一。二。 3。'],
    [['', 'alone', ''], 'alone'],
    [[], ''],
  ])('%j', (parts, text) => {
    expect(joined(...parts)).toBe(text);
  });
});
