import { describe, expect, it } from 'vitest';
import { formatDateTime } from '../../format/time';
import { cureText, refusalDetails, refusalTitle } from './refusalText';

const NOW = 1_800_000_000;
const LATER = NOW + 3 * 3600;
const EARLIER = NOW - 3600;

const daily = { period: 'day', limit: 2_500_000, used: 2_450_000, resets_at: LATER };

describe('the title of a refusal', () => {
  it.each([
    [{ reason: 'token_period_exceeded', ...daily }, 'Daily limit of the key reached'],
    [{ reason: 'user_period_exceeded', period: 'month' }, 'Monthly limit of the account reached'],
    [{ reason: 'token_period_exceeded' }, 'Daily, weekly or monthly limit of the key reached'],
    [
      { reason: 'token_period_exceeded', period: 'year' },
      'Daily, weekly or monthly limit of the key reached',
    ],
    [{ reason: 'token_disabled' }, 'Key disabled'],
    [{ reason: 'from_a_newer_server' }, 'Another reason (from_a_newer_server)'],
  ])('of %j is %s', (refusal, title) => {
    expect(refusalTitle(refusal)).toBe(title);
  });
});

describe('the details of a refusal', () => {
  it('are how much of the limit was used, and when it renews', () => {
    const details = refusalDetails({ reason: 'token_period_exceeded', ...daily }, NOW);
    expect(details).toBe(`$4.90 of $5.00 used · renews ${formatDateTime(LATER)}`);
  });

  it('name the amount that was asked for', () => {
    const refusal = { reason: 'user_period_exceeded', ...daily, resets_at: EARLIER, requested: 100_000 };
    expect(refusalDetails(refusal, NOW)).toBe(
      `$4.90 of $5.00 used · $0.20 asked for · renewed ${formatDateTime(EARLIER)}`,
    );
    expect(refusalDetails({ reason: 'token_quota_insufficient', requested: 500_000 }, NOW)).toBe(
      '$1.00 asked for',
    );
  });

  it('do not say when a limit renews into which the request never fits', () => {
    const refusal = { reason: 'token_period_exceeded', ...daily };
    expect(refusalDetails({ ...refusal, requested: 3_000_000 }, NOW)).toBe(
      '$4.90 of $5.00 used · $6.00 asked for, more than the whole limit',
    );
    expect(refusalDetails({ ...refusal, limit: 0, used: 0 }, NOW)).toBe(
      'A limit of $0 refuses every request.',
    );
  });

  it('are the sentence of the API for rates', () => {
    const message = 'this token may make 60 requests per minute; retry after 1 s';
    expect(refusalDetails({ reason: 'rate_limited', message, requested: 1 }, NOW)).toBe(
      'This token may make 60 requests per minute; retry after 1 s.',
    );
  });

  it.each([
    { reason: 'token_disabled', message: 'this token is disabled', requested: 5 },
    { reason: 'token_exhausted', message: 'this token has used up its quota' },
    { reason: 'token_quota_insufficient', requested: null },
  ])('are none if the title says it all: %j', (refusal) => {
    expect(refusalDetails(refusal, NOW)).toBe('');
  });
});

describe('a cure', () => {
  it('says when somebody changed something', () => {
    expect(cureText({ at: NOW - 120 }, NOW)).toBe('Fixed 2 min ago');
  });

  it.each([{ at: null }, {}])('has no time if nobody did: %j', (cure) => {
    expect(cureText(cure, NOW)).toBe('Passes now');
  });
});
