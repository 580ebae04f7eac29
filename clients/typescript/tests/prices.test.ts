/** Costs that Keymeter computes from counts, by its price for the model. */

import { describe, expect, test } from 'vitest';
import { type Charged, NotAllowed } from '../src/index.ts';
import { account, client, Lines } from './context.ts';

// 5 and 30 dollars for a million tokens, 0.5 for cached ones and 2.5 for those that are written to the cache.
const MODEL = 'priced-1';
const COUNTS = { promptTokens: 1000, completionTokens: 500 };
// (1,000 × 5 + 500 × 30) / 1,000,000 dollars.
const COST = 10_000;
const CACHED = { ...COUNTS, cachedTokens: 400, cacheWriteTokens: 200 };
// (400 × 5 + 400 × 0.5 + 200 × 2.5 + 500 × 30) / 1,000,000 dollars.
const CACHED_COST = 8_850;

describe('a service with prices', () => {
  test('computes the cost of counts in every call', async () => {
    const km = client();
    const key = (await (await account()).key()).text;
    expect((await km.charge(key, { model: MODEL, ...COUNTS })).charged).toBe(COST);
    expect((await km.charge(key, { model: MODEL, ...CACHED })).charged).toBe(CACHED_COST);
    const [outcome] = await km.charges([{ key, model: MODEL, ...CACHED }]);
    expect((outcome as Charged).charged).toBe(CACHED_COST);
    const { reservationId, reserved } = await km.reserve(key, { model: MODEL, ...CACHED });
    expect(reserved).toBe(CACHED_COST);
    const settled = await km.settle(reservationId, { model: 'priced-2', ...COUNTS });
    expect(settled.charged).toBe(COST);
    const poor = await (await account()).key(COST - 1);
    expect((await km.verify(poor.text, { model: MODEL, ...COUNTS })).reason).toBe('token_quota_insufficient');
    expect((await km.verify(poor.text, { model: MODEL, ...CACHED })).valid).toBe(true);
  });

  test('refuses a model without a price', async () => {
    const km = client();
    const key = (await (await account()).key()).text;
    const options = { model: 'unpriced', ...COUNTS };
    for (const call of [
      () => km.charge(key, options),
      () => km.reserve(key, options),
      () => km.spend(key, options, () => expect.fail('the work began')),
    ]) {
      const error = await call().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(NotAllowed);
      expect(error).toMatchObject({ status: 403, code: 'model_not_priced' });
    }
    expect((await km.verify(key, options)).reason).toBe('model_not_priced');
  });

  test('settles a spend by the sums of its counts', async () => {
    const key = await (await account()).key(100_000);
    const spend = await client().open(key.text, { usd: '0.1', model: MODEL });
    spend.cost({ promptTokens: 1000, cachedTokens: 400, cacheWriteTokens: 200 });
    spend.cost({ completionTokens: 300 });
    spend.cost({ completionTokens: 200 });
    await spend.end();
    expect(spend.settled?.charged).toBe(CACHED_COST);
    expect(await key.charges()).toMatchObject([
      { quota: CACHED_COST, prompt_tokens: 1000, completion_tokens: 500, model_name: MODEL },
    ]);
  });

  test('holds by counts, and settles by the model that answered', async () => {
    const key = await (await account()).key(100_000);
    const spend = await client().open(key.text, { model: MODEL, promptTokens: 2000, completionTokens: 1000 });
    expect(spend.reservation.reserved).toBe(2 * COST);
    spend.cost({ ...COUNTS, model: 'priced-2' });
    await spend.end();
    expect(await key.charges()).toMatchObject([{ quota: COST, model_name: 'priced-2' }]);
  });

  test('keeps an amount that was told beside counts', async () => {
    const km = client();
    const key = await (await account()).key(100_000);
    await km.spend(key.text, { usd: '0.1', model: MODEL }, (spend) => {
      spend.cost({ quota: 3, ...CACHED });
      spend.cost({ quota: 4, promptTokens: 5 });
    });
    expect(await key.charges()).toMatchObject([{ quota: 7, prompt_tokens: 1005, completion_tokens: 500 }]);
    await km.spend(key.text, { usd: '0.1', model: MODEL }, (spend) => spend.cost({ quota: 8, ...COUNTS }));
    expect(await key.used()).toBe(15);
    await km.spend(key.text, { usd: '0.1', model: MODEL }, (spend) =>
      spend.cost({ quota: 1, model: 'other' }),
    );
    const models = (await key.charges()).map((charge) => charge.model_name);
    expect(models.sort()).toEqual(['other', MODEL, MODEL]);
  });

  test('is told a spend in amounts or in counts, and charges the hold if it is not', async () => {
    const key = await (await account()).key(100_000);
    for (const [first, second] of [
      [COUNTS, { quota: 1 }],
      [{ quota: 1 }, COUNTS],
    ]) {
      const work = client().spend(key.text, { quota: 50, model: MODEL }, (spend) => {
        spend.cost(first ?? {});
        spend.cost(second ?? {});
      });
      await expect(work).rejects.toThrow('all as counts for their price');
    }
    expect(await key.used()).toBe(100);
  });

  test('charges the hold for counts of nothing', async () => {
    const key = await (await account()).key(100_000);
    await client().spend(key.text, { usd: '0.1', model: MODEL }, (spend) => spend.cost({ promptTokens: 0 }));
    expect(await key.used()).toBe(50_000);
    expect(await key.charges()).toHaveLength(1);
  });

  test('charges what was told by work that throws', async () => {
    const key = await (await account()).key(100_000);
    const work = client().spend(key.text, { usd: '0.1', model: MODEL }, (spend) => {
      spend.cost(COUNTS);
      throw new SyntaxError('a defect');
    });
    await expect(work).rejects.toThrow(SyntaxError);
    expect(await key.used()).toBe(COST);
  });

  test.each([
    ['a model without a price', 'unpriced', COUNTS, 'model_not_priced'],
    ['more cached tokens than tokens', MODEL, { ...COUNTS, cachedTokens: 1001 }, 'invalid_count'],
  ])('charges the hold if Keymeter cannot compute a cost: %s', async (_, model, cost, holdReason) => {
    const lines = new Lines();
    const key = await (await account()).key(100);
    const spend = await client({ log: lines.log }).open(key.text, { quota: 50, model });
    spend.cost(cost);
    await spend.end();
    expect(spend.settled).toMatchObject({ charged: 50, pricedBy: 'hold', holdReason });
    expect(await key.charges()).toMatchObject([{ quota: 50, prompt_tokens: 1000, completion_tokens: 500 }]);
    // The service itself charges it.
    expect(lines.text).toBe('');
  });

  test('charges the amount if what was told beside it is refused', async () => {
    const km = client();
    const key = await (await account()).key(100);
    for (const beside of [{ ...COUNTS, cachedTokens: 1001 }, { model: 'm'.repeat(129) }]) {
      await km.spend(key.text, { quota: 50, model: MODEL }, (spend) => spend.cost({ quota: 7, ...beside }));
    }
    expect(await key.used()).toBe(14);
  });

  test('charges at least the hold if one cost could not be read', async () => {
    const key = await (await account()).key(100);
    const work = client().spend(key.text, { quota: 50, model: MODEL }, (spend) => {
      spend.cost({ promptTokens: 1 });
      spend.cost({ promptTokens: -1 });
    });
    await expect(work).rejects.toThrow(RangeError);
    expect(await key.used()).toBe(50);
  });
});
