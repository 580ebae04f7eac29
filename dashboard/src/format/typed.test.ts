import { describe, expect, it } from 'vitest';
import { parseInteger, parseUsd } from './typed';

describe('parseUsd', () => {
  it.each([
    ['0', 0],
    ['1', 500_000],
    ['$12.50', 6_250_000],
    [' 0.000002 ', 1],
    ['.5', 250_000],
    ['3.', 1_500_000],
    ['1,000.00', 500_000_000],
    ['1,000,000', 500_000_000_000],
    ['1.500', 750_000],
    ['１２．５０', 6_250_000],
    ['12.50 $', 6_250_000],
    ['0.10', 50_000],
    ['1.0000000000', 500_000],
    ['1000000000', 500_000_000_000_000],
    ['999999999.999998', 499_999_999_999_999],
  ])('reads %s', (typed, units) => {
    expect(parseUsd(typed)).toEqual({ units });
  });

  it.each([
    ['', 'empty'],
    ['$', 'empty'],
    ['.', 'not_an_amount'],
    ['-1', 'not_an_amount'],
    ['1,5', 'not_an_amount'],
    ['1,500', 'ambiguous'],
    ['$100,000', 'ambiguous'],
    ['0,500', 'not_an_amount'],
    ['1,50,000', 'not_an_amount'],
    ['1,,000', 'not_an_amount'],
    ['1, 000', 'not_an_amount'],
    ['$', 'empty'],
    ['$$5', 'not_an_amount'],
    ['-$1', 'not_an_amount'],
    ['€5', 'not_an_amount'],
    ['<$1', 'not_an_amount'],
    ['$1.2K', 'not_an_amount'],
    ['1²', 'not_an_amount'],
    ['½', 'not_an_amount'],
    ['一', 'not_an_amount'],
    ['١٢', 'not_an_amount'],
    ['1e3', 'not_an_amount'],
    ['ten', 'not_an_amount'],
    ['0.0000001', 'too_many_places'],
    ['0.000001', 'finer_than_a_unit'],
    ['99999999999999', 'too_large'],
  ])('refuses %s', (typed, error) => {
    expect(parseUsd(typed)).toEqual({ error });
  });
});

describe('parseInteger', () => {
  it.each([
    ['0', 0],
    [' 1200 ', 1200],
    ['1,200', 1200],
    ['', undefined],
    [',', undefined],
    ['1,5', undefined],
    ['0,500', undefined],
    ['1.0', undefined],
    ['$5', undefined],
    ['9007199254740993', undefined],
  ])('reads "%s"', (typed, number) => {
    expect(parseInteger(typed)).toBe(number);
  });
});
