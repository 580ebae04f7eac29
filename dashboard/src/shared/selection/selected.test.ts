import { describe, expect, it } from 'vitest';
import type { Token } from '../../api/tokens';
import { makeToken } from '../../test/makeToken';
import { rangeOf, type Selected, withRows } from './selected';

const one = makeToken({ id: 1 });
const two = makeToken({ id: 2 });
const three = makeToken({ id: 3 });
const four = makeToken({ id: 4 });
const shown = [four, three, two, one];
const none: Selected<Token> = new Map();

describe('selected tokens', () => {
  it('keep those of other pages', () => {
    const elsewhere = withRows(none, [makeToken({ id: 99 })], true);
    const both = withRows(elsewhere, [one, two], true);
    expect([...both.keys()]).toEqual([99, 1, 2]);
    expect([...withRows(both, shown, false).keys()]).toEqual([99]);
  });
});

describe('rangeOf', () => {
  it.each([
    [4, two, [4, 3, 2]],
    [1, three, [3, 2, 1]],
    [2, two, [2]],
    [undefined, two, [2]],
    [99, two, [2]],
  ])('from %s', (anchor, token, ids) => {
    expect(rangeOf(shown, anchor, token).map(({ id }) => id)).toEqual(ids);
  });
});
