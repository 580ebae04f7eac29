import { describe, expect, it } from 'vitest';
import { MAX_QUOTA, usdInput } from '../../../format/money';
import { texts } from '../../../texts';
import { quotaToAdd } from './quotaToAdd';

describe('quotaToAdd', () => {
  it('is in quota units', () => {
    expect(quotaToAdd('$2.50')).toEqual({ units: 1_250_000 });
    expect(quotaToAdd(usdInput(MAX_QUOTA))).toEqual({ units: MAX_QUOTA });
  });

  it.each([
    ['', { error: texts.common.usdErrors.empty, isEmpty: true }],
    ['two', { error: texts.common.usdErrors.not_an_amount, isEmpty: false }],
    ['-2', { error: texts.common.usdErrors.not_an_amount, isEmpty: false }],
    ['0.00', { error: texts.keys.addQuota.nothing, isEmpty: false }],
  ])('says what is wrong with “%s”', (typed, expected) => {
    expect(quotaToAdd(typed)).toEqual(expected);
  });

  it('refuses more than a key can have', () => {
    expect(quotaToAdd(usdInput(MAX_QUOTA + 500_000))).toMatchObject({ isEmpty: false });
  });
});
