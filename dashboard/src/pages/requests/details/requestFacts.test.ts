import { describe, expect, it } from 'vitest';
import type { PastRequest } from '../../../api/requestHistory';
import { formatDateTime, formatZonedMoment } from '../../../format/time';
import { makeRefusal, makeRequest } from '../../../test/makeRequest';
import { requestFacts, supportText } from './requestFacts';

const NOW = 1_800_000_100;

/** The facts as lines, by the titles of their groups. */
function factsOf(request: PastRequest, scope: 'own' | 'allUsers' = 'own'): Record<string, string[]> {
  return Object.fromEntries(
    requestFacts(request, scope, NOW).map(({ title, facts }) => [
      title,
      facts.map(({ name, text }) => `${name}: ${text}`),
    ]),
  );
}

describe('the facts of a charge', () => {
  it('are its key, model, gateway, address, ids and cost', () => {
    expect(factsOf(makeRequest())).toEqual({
      Request: [
        'Status: Charged',
        `Time: ${formatZonedMoment(1_800_000_000)}`,
        'Key: Crawler',
        'Model: gpt-5',
        'Gateway: east',
        'Address: 192.0.2.7',
        'Request ID: chat-7',
        'ID in this list: c7',
      ],
      Cost: [
        'Charged: $1.50 = 750,000 units',
        'Decided by: The amount that the gateway sent',
        'Input tokens: 1,200',
        'Output tokens: 34',
      ],
    });
  });

  it('have all digits of a cost below a cent', () => {
    expect(factsOf(makeRequest({ quota: 1 })).Cost).toContain('Charged: $0.000002 = 1 units');
  });

  it('say what was not covered, and what it would have cost', () => {
    const details = { call: 'charge', requested: 1_000_000, price: null, reservation: null };
    const { Cost, Request } = factsOf(makeRequest({ shortfall: 250_000, details }));
    expect(Cost).toEqual(
      expect.arrayContaining(['Not covered: $0.50 = 250,000 units', 'Whole cost: $2.00 = 1,000,000 units']),
    );
    expect(Request).toEqual(expect.arrayContaining(['Status: Partly covered', 'Call: Charge (charge)']));
  });

  it('have each line of the price that was used, and all that was counted', () => {
    const line = { unit: 'input_tokens', count: '1000', rate: '5', per: 1_000_000, usd: '0.005' };
    const price = { ratio: '1.5', lines: [line] };
    const details = { call: 'settle', requested: 3750, price, reservation: null };
    const units = { input_tokens: 1000, web_searches: 2 };
    const facts = factsOf(makeRequest({ priced_by: 'units', units, details }));
    expect(facts.Price).toEqual([
      'Input tokens: 1,000 input tokens × $5.00 per million = $0.005',
      'Ratio of the group: × 1.5',
    ]);
    expect(facts.Cost?.slice(-2)).toEqual(['Input tokens: 1,000', 'Web searches: 2']);
  });

  it('say that a price is gone only if it is known to be', () => {
    const details = { call: 'charge', requested: 1, price: null, reservation: null };
    expect(factsOf(makeRequest({ priced_by: 'units', details })).Price).toEqual([
      'Price: The price list no longer has what was used.',
    ]);
    // The row of a list has no details.
    expect(factsOf(makeRequest({ priced_by: 'units' })).Price).toBeUndefined();
    expect(factsOf(makeRequest({ priced_by: 'told', details })).Price).toBeUndefined();
  });

  it('have its reservation, for as long as it is known', () => {
    const reservation = {
      held: 500_000,
      created_time: 1_799_999_000,
      expires_at: 1_799_999_600,
      on_expiry: 'charge',
      expired: true,
    };
    const details = { call: 'expire', requested: 500_000, price: null, reservation };
    const held = makeRequest({ reservation_id: 'r-1', priced_by: 'hold', hold_reason: 'expired', details });
    expect(factsOf(held).Reservation).toEqual([
      'Reservation ID: r-1',
      'Held: $1.00 = 500,000 units',
      `Made: ${formatZonedMoment(1_799_999_000)}`,
      `Valid until: ${formatZonedMoment(1_799_999_600)}`,
      'Then: The hold is charged',
      'Ended: Too late',
    ]);
    expect(factsOf(held).Cost).toContain('Why the hold: The gateway did not settle the reservation in time.');
    expect(factsOf({ ...held, details: { ...details, reservation: null } }).Reservation).toEqual([
      'Reservation ID: r-1',
      'Held: More is known for 72 hours after its end.',
    ]);
  });
});

describe('the facts of a refusal', () => {
  it('say which limit, what was asked for, and what lets it pass', () => {
    const resets_at = 1_800_003_600;
    const remedy = { action: 'raise_limit', field: 'period_limits.day', by: 'owner', allowed: true };
    const refusal = makeRefusal({
      reason: 'token_period_exceeded',
      message: 'the daily limit of this token is reached',
      period: 'day',
      limit: 250_000,
      used: 200_000,
      requested: 100_000,
      resets_at,
      retry_after: 3600,
      suppressed: 2,
      remedy,
    });
    const facts = factsOf(makeRequest({ outcome: 'refused', quota: 0, refusal }));
    expect(facts['Why it was refused']).toEqual([
      'Reason: Daily limit of the key reached',
      `Limit: $0.40 of $0.50 used · $0.20 asked for · renews ${formatDateTime(resets_at)}`,
      'What lets it pass: Raise the daily limit. The owner of the key can do it.',
      'Answer to the gateway: The daily limit of this token is reached.',
      'Error code: token_period_exceeded',
      'Asked for: $0.20',
      'Could succeed after: 3,600 seconds',
      'Not listed: and 2 more like this in the same minute',
    ]);
    expect(Object.keys(facts)).toEqual(['Why it was refused', 'Request']);
    expect(facts.Request).toContain('Call: Charge (charge)');
  });

  it('say that it is fixed', () => {
    const refusal = makeRefusal({ cured: { at: NOW - 120 } });
    expect(factsOf(makeRequest({ refusal }))['Why it was refused']).toContain('Now: Fixed 2 min ago');
  });

  it('name no key if none of this service was sent', () => {
    const none = { token_id: null, token_name: null, user_id: null, username: null, ip: null };
    const { Request } = factsOf(makeRequest({ ...none, refusal: makeRefusal() }), 'allUsers');
    expect(Request).toEqual(expect.arrayContaining(['Key: Unknown key', 'Address: Not known']));
    expect(Request?.filter((fact) => fact.startsWith('Owner'))).toEqual([]);
  });
});

it.each([
  ['own', ['/keys/7']],
  ['allUsers', ['/admin/tokens/7', '/admin/users/1']],
] as const)('the links of the scope %s are those of its pages', (scope, hrefs) => {
  const facts = requestFacts(makeRequest(), scope, NOW).flatMap((group) => group.facts);
  expect(facts.flatMap(({ href }) => href ?? [])).toEqual(hrefs);
});

it('the copy for support has every fact and the link', () => {
  const groups = requestFacts(makeRequest(), 'own', NOW);
  const text = supportText(groups, 'https://example.com/requests?id=c7');
  for (const fact of groups.flatMap(({ facts }) => facts))
    expect(text).toContain(`  ${fact.name}: ${fact.text}\n`);
  expect(text.startsWith('Request\n')).toBe(true);
  expect(text.endsWith('\n\nhttps://example.com/requests?id=c7')).toBe(true);
});
