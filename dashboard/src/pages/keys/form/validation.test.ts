import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../api/error';
import { failureText } from '../../../format/failure';
import { texts } from '../../../texts';
import { emptyDraft } from './draft';
import type { Draft } from './fields';
import type { Quota } from './quota';
import { fieldErrorsOf, validate } from './validation';

const words = texts.keys.form.errors;
const quota = (mode: Quota['mode'], usd: string): Quota => ({ mode, usd, before: 500_000 });
const valid: Draft = { ...emptyDraft, name: 'Website', remain_quota: quota('set', '5') };

describe('validate', () => {
  it.each<[string, Partial<Draft>, Record<string, string>]>([
    ['a valid draft', {}, {}],
    ['no name', { name: ' ' }, { name: words.noName }],
    ['a long name', { name: 'n'.repeat(51) }, { name: words.longName(50) }],
    ['a note of 500 characters', { note: ` ${'🔑'.repeat(500)}\n` }, {}],
    ['a note of 501 characters', { note: 'n'.repeat(501) }, { note: words.longNote(500) }],
    ['nothing that it may spend', { remain_quota: quota('set', ' ') }, { remain_quota: words.noLimit }],
    [
      'only a limit per day',
      { remain_quota: quota('set', ''), period_limits: { day: '5', week: '', month: '' } },
      {},
    ],
    ['nothing to add', { remain_quota: quota('add', '') }, {}],
    [
      'no amount to add',
      { remain_quota: quota('add', 'x') },
      { remain_quota: texts.common.usdErrors.not_an_amount },
    ],
    ['all that is left', { remain_quota: quota('take', '1') }, {}],
    [
      'more than is left',
      { remain_quota: quota('take', '1.000002') },
      { remain_quota: words.takesTooMuch('$1.00') },
    ],
    ['no quota where it is unlimited', { remain_quota: quota('set', ''), unlimited_quota: true }, {}],
    [
      'limits',
      { period_limits: { day: '5', week: '', month: 'much' } },
      { 'period_limits.month': texts.common.usdErrors.not_an_amount },
    ],
    [
      'rates',
      { rate_limits: { requests_per_minute: '60', tokens_per_minute: '', concurrency: '1.5' } },
      { 'rate_limits.concurrency': texts.limits.errors.notANumber },
    ],
    ['no date', { expired_time: { choice: 'at', at: undefined } }, { expired_time: words.noDateTime }],
    ['models that are not limited', { model_limits_enabled: false, model_limits: [] }, {}],
    [
      'limited models without a model',
      { model_limits_enabled: true, model_limits: [] },
      { model_limits: words.noModels },
    ],
    ['limited models', { model_limits_enabled: true, model_limits: ['gpt-5'] }, {}],
    ['a bad address', { allow_ips: '::1\nhere' }, { allow_ips: words.ip(2, 'here') }],
  ])('%s', (_, changes, errors) => {
    expect(validate({ ...valid, ...changes })).toEqual(errors);
  });
});

describe('fieldErrorsOf', () => {
  const refusal = (code: string) => new ApiError(400, code, 'the reason');

  it.each([
    ['invalid_note', 'note'],
    ['invalid_name', 'name'],
    ['invalid_quota', 'remain_quota'],
    ['invalid_ips', 'allow_ips'],
  ])('shows %s at the field %s', (code, field) => {
    expect(fieldErrorsOf(refusal(code), valid)).toEqual({ [field]: failureText(refusal(code)) });
  });

  it.each(['invalid_models', 'invalid_expiry', 'too_many_tokens'])(
    'leaves out %s, which has no visible field',
    (code) => {
      expect(fieldErrorsOf(refusal(code), valid)).toEqual({});
    },
  );

  it('is empty without a failure of the API', () => {
    expect(fieldErrorsOf(null, valid)).toEqual({});
    expect(fieldErrorsOf(new Error('crash'), valid)).toEqual({});
  });
});
