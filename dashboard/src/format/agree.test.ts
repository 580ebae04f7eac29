import { describe, expect, it } from 'vitest';
import { texts } from '../texts';
import { agree } from './agree';

describe('agree', () => {
  it.each([
    [1, 'Key was left out, because it is taken.'],
    [2, 'Keys were left out, because they are taken.'],
    [0, 'Keys were left out, because they are taken.'],
  ])('with %d', (count, text) => {
    expect(agree(count, 'Key[|s] [was|were] left out, because [it is|they are] taken.')).toBe(text);
  });

  it('leaves no forms in the texts of findings', () => {
    for (const text of Object.values(texts.adminImports.findings))
      for (const count of [1, 2]) expect(agree(count, text)).not.toMatch(/[[\]|]/);
  });
});
