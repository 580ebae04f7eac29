import { describe, expect, it } from 'vitest';
import { hintOf } from './hint';

describe('hintOf', () => {
  it('uses the last characters', () => {
    expect(hintOf({ id: 7, hint: 'wxyz' })).toBe('…wxyz');
  });

  it('uses the ID if there are no characters', () => {
    expect(hintOf({ id: 7, hint: '' })).toBe('#7');
  });
});
