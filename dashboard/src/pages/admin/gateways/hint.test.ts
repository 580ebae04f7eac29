import { describe, expect, it } from 'vitest';
import { hintOf } from './hint';

describe('hintOf', () => {
  it('tells credentials apart by their end', () => {
    expect(hintOf({ id: 7, hint: 'wxyz' })).toBe('…wxyz');
  });

  it('falls back on the number of an old credential', () => {
    expect(hintOf({ id: 7, hint: '' })).toBe('#7');
  });
});
