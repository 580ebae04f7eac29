import { describe, expect, it } from 'vitest';
import { listHref, readListQuery, withFilters, withPage } from './listQuery';

const names = ['keyword', 'user_id'] as const;

describe('readListQuery', () => {
  it.each([
    ['', { filters: { keyword: '', user_id: '' }, page: 0 }],
    ['keyword=ana&page=3&other=1', { filters: { keyword: 'ana', user_id: '' }, page: 2 }],
    ['user_id=7&page=0', { filters: { keyword: '', user_id: '7' }, page: 0 }],
    ['page=-2', { filters: { keyword: '', user_id: '' }, page: 0 }],
    ['page=two', { filters: { keyword: '', user_id: '' }, page: 0 }],
  ])('reads "%s"', (search, query) => {
    expect(readListQuery(new URLSearchParams(search), names)).toEqual(query);
  });
});

describe('changes of the query', () => {
  it('return to the first page and remove empty filters', () => {
    const params = new URLSearchParams('keyword=ana&user_id=7&page=3');
    expect(withFilters(params, { keyword: '' }).toString()).toBe('user_id=7');
    expect(params.get('page')).toBe('3');
  });

  it('keep the filters on other pages, and leave out the first page', () => {
    const params = new URLSearchParams('keyword=a%26b');
    expect(withPage(params, 1).toString()).toBe('keyword=a%26b&page=2');
    expect(withPage(withPage(params, 1), 0).toString()).toBe('keyword=a%26b');
  });

  it('round-trip through a URL', () => {
    const search = listHref('/admin/tokens', { user_id: 7, keyword: 'a&b' }).split('?')[1];
    expect(readListQuery(new URLSearchParams(search), names).filters).toEqual({
      keyword: 'a&b',
      user_id: '7',
    });
  });
});
