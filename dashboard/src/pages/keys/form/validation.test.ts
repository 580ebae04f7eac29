import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../api/error';
import { failureText } from '../../../format/failure';
import { texts } from '../../../texts';
import { type Draft, emptyDraft } from './draft';
import { type FieldErrors, fieldErrorsOf, validate } from './validation';

const words = texts.keys.form.errors;
const valid: Draft = { ...emptyDraft, name: 'Website', usd: '5' };

describe('validate', () => {
  it.each<[string, Partial<Draft>, FieldErrors]>([
    ['a valid draft', {}, {}],
    ['no name', { name: ' ' }, { name: words.noName }],
    ['a long name', { name: 'n'.repeat(51) }, { name: words.longName(50) }],
    ['a note of 500 characters', { note: ` ${'🔑'.repeat(500)}\n` }, {}],
    ['a note of 501 characters', { note: 'n'.repeat(501) }, { note: words.longNote(500) }],
    ['no quota', { usd: '' }, { usd: texts.common.usdErrors.empty }],
    ['nothing to add', { quotaMode: 'add', usd: '' }, {}],
    ['no amount to add', { quotaMode: 'add', usd: 'x' }, { usd: texts.common.usdErrors.not_an_amount }],
    ['all that is left', { quotaMode: 'take', usd: '1', held: 500_000 }, {}],
    ['more than is left', { quotaMode: 'take', usd: '1.000002', held: 500_000 }, { usd: words.takesTooMuch }],
    ['no quota where it is unlimited', { usd: '', unlimited: true }, {}],
    [
      'limits',
      { periodLimits: { day: '5', week: '', month: 'much' } },
      { month: texts.common.usdErrors.not_an_amount },
    ],
    [
      'rates',
      { rateLimits: { requests_per_minute: '60', tokens_per_minute: '', concurrency: '1.5' } },
      { concurrency: texts.limits.errors.notANumber },
    ],
    ['no date', { expiry: { choice: 'at', at: undefined } }, { expiresAt: words.noDateTime }],
    ['models that are not limited', { limitModels: false, models: [] }, {}],
    ['limited models without a model', { limitModels: true, models: [] }, { models: words.noModels }],
    ['limited models', { limitModels: true, models: ['gpt-5'] }, {}],
    ['a bad address', { ips: '::1\nhere' }, { ips: words.ip(2, 'here') }],
  ])('%s', (_, changes, errors) => {
    expect(validate({ ...valid, ...changes })).toEqual(errors);
  });
});

describe('fieldErrorsOf', () => {
  const refusal = (code: string) => new ApiError(400, code, 'the reason');

  it.each([
    ['invalid_note', 'note'],
    ['invalid_name', 'name'],
    ['invalid_quota', 'usd'],
    ['invalid_ips', 'ips'],
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
