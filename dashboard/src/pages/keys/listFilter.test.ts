import { expect, it } from 'vitest';
import { makeToken } from '../../test/makeToken';
import { listFilter } from './listFilter';
import { planSearch } from './search';

const web = makeToken({ name: 'Website', masked_key: 'sk-ab12**********wxyz' });
const other = makeToken({ name: 'Notebook', masked_key: 'sk-Webs**********wxyz' });
const view = { state: 'usable', group: undefined };

it.each([
  ['', false, { state: 'usable' }],
  ['web', true, { keyword: 'web', state: 'usable' }],
  [' web ', false, { keyword: 'web', state: 'usable' }],
  ['w%e', false, { keyword: 'w%e', state: 'usable' }],
  ['w', true, undefined],
  ['w', false, undefined],
  ['sk-ab12', true, undefined],
  ['sk-ab12**********wxyz', false, undefined],
])('filters by a name: %j', (typed, isComplete, filter) => {
  expect(listFilter(view, planSearch(typed, isComplete), [web])).toEqual(filter);
});

it('has no filter where a key was found by its visible end', () => {
  expect(listFilter(view, planSearch('Webs', true), [web, other])).toBeUndefined();
});
