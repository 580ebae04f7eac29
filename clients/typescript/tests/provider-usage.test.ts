/** What providers answer, as it came: costs by it, and what is sent of it. */

import { beforeAll, expect, test } from 'vitest';
import { BadRequest, type ChargeOptions } from '../src/index.ts';
import { plain } from '../src/provider-usage.ts';
import { account, administration, client } from './context.ts';
import { PRICES } from './price-list.ts';

const TEXT = 'x'.repeat(70_000);
const CHAT = {
  object: 'chat.completion',
  model: 'gpt-5-2026',
  choices: [{ message: { role: 'assistant', content: TEXT } }],
  service_tier: 'default',
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 10,
    total_tokens: 1010,
    prompt_tokens_details: { cached_tokens: 900 },
  },
};
const RESPONSE = {
  model: 'gpt-5',
  service_tier: 'priority',
  output: [
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'message', content: [{ text: TEXT }] },
  ],
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
};
const MESSAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 900,
  cache_creation_input_tokens: 40,
};
const GEMINI = {
  candidates: [{ content: { parts: [{ text: TEXT }] } }],
  modelVersion: 'gemini-3-pro',
  usageMetadata: { promptTokenCount: 120, candidatesTokenCount: 10, thoughtsTokenCount: 30 },
};
/** An object that says itself what it is in JSON. */
const toJSON = (members: object) => ({ client: TEXT, toJSON: () => members });

beforeAll(() => administration.root('PUT', '/api/admin/prices', PRICES));

test.each<[string, ChargeOptions, number]>([
  ['gpt-5', { usage: CHAT }, 240],
  ['gpt-5', { usage: toJSON(CHAT) }, 240],
  ['gpt-5', { usage: CHAT.usage }, 240],
  ['gpt-5', { usage: RESPONSE }, 200 + 50 + 5000],
  ['gpt-5', { usage: CHAT.usage, units: { web_searches: 2 } }, 10_240],
  ['gpt-5', { usage: CHAT.usage, context: { service_tier: 'priority' } }, 340],
  ['gpt-5', { usage: { prompt_tokens: 8, total_tokens: 8 }, flavor: 'embeddings' }, 8],
  ['claude-5', { usage: MESSAGE }, 10 + 90 + 50 + 25],
  ['claude-5', { usage: { type: 'message', content: [TEXT], model: 'claude-5', usage: MESSAGE } }, 175],
  ['gemini-3', { usage: GEMINI }, 120 + 50 + 150],
  ['mine', { units: { input_tokens: 7, output_tokens: 3 }, provider: 'openai' }, 22],
  ['gpt-5', { promptTokens: 7, completionTokens: 0, units: { web_searches: 1 } }, 5007],
])('what was used of %s costs what its units cost: %#', async (model, fields, cost) => {
  const km = client();
  const key = (await (await account()).key()).text;
  const charged = { charged: cost, pricedBy: 'units' };
  expect(await km.charge(key, { model, ...fields })).toMatchObject(charged);
  expect(await km.charges([{ key, model, ...fields }])).toMatchObject([charged]);
  const { reservationId } = await km.reserve(key, { model, quota: 77_777 });
  const settled = await km.settle(reservationId, fields);
  expect(settled).toMatchObject(charged);
  expect(settled).not.toHaveProperty('holdReason');
  const spend = await km.open(key, { model, quota: 77_777 });
  spend.cost(fields);
  await spend.end();
  expect(spend.settled).toMatchObject(charged);
});

test('units and what prices depend on are held and verified', async () => {
  const km = client();
  const key = (await (await account()).key()).text;
  const most = { model: 'gpt-5', units: { input_tokens: 100, web_searches: 1 }, provider: 'openai' };
  const priority = { ...most, context: { service_tier: 'priority' } };
  for (const [options, cost] of [
    [most, 5100],
    [priority, 5200],
  ] as const) {
    const { reserved, reservationId } = await km.reserve(key, options);
    expect(reserved).toBe(cost);
    await km.release(reservationId);
    const spend = await km.open(key, options);
    spend.cost({ quota: 0 });
    await spend.end();
    expect(spend.reservation.reserved).toBe(cost);
  }
  const poor = (await (await account()).key(5100)).text;
  expect((await km.verify(poor, most)).valid).toBe(true);
  expect((await km.verify(poor, priority)).reason).toBe('token_quota_insufficient');
  expect((await km.verify(key, { ...most, provider: 'nobody' })).reason).toBe('model_not_priced');
});

test('usage that cannot be read costs the hold', async () => {
  const km = client();
  const key = (await (await account()).key()).text;
  const usage = { id: 'x', usage: { words: 3 } };
  const error = await km.charge(key, { model: 'gpt-5', usage }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(BadRequest);
  expect(error).toMatchObject({ code: 'invalid_usage' });
  const [outcome] = await km.charges([{ key, model: 'gpt-5', usage }]);
  expect(outcome).toBeInstanceOf(BadRequest);
  const settle = async (fields: object) => {
    const { reservationId } = await km.reserve(key, { model: 'gpt-5', quota: 777 });
    return km.settle(reservationId, { usage, ...fields });
  };
  expect(await settle({})).toMatchObject({ charged: 777, pricedBy: 'hold', holdReason: 'invalid_usage' });
  expect(await settle({ quota: 5 })).toMatchObject({ charged: 5, pricedBy: 'told' });
});

test('a spend is charged the hold, or its amount, where its settlement is refused', async () => {
  // What is no context.
  const fields = { usage: MESSAGE, context: { speed: 1 } } as unknown as object;
  for (const [cost, charged] of [
    [fields, 777],
    [{ ...fields, quota: 5 }, 5],
  ] as const) {
    const spend = await client().open((await (await account()).key()).text, {
      model: 'claude-5',
      quota: 777,
    });
    spend.cost(cost);
    await spend.end();
    expect(spend.settled?.charged).toBe(charged);
  }
});

test('a spend has one cost with usage', async () => {
  const key = await (await account()).key();
  for (const [first, second] of [
    [{ usage: MESSAGE }, { usage: MESSAGE }],
    [{ quota: 1 }, { quota: 1, units: { web_searches: 1 } }],
  ] as const) {
    const work = client().spend(key.text, { model: 'claude-5', quota: 777 }, (spend) => {
      spend.cost(first);
      spend.cost(second);
    });
    await expect(work).rejects.toThrow('the only one');
  }
  expect(await key.used()).toBe(2 * 777);
});

const cycle: { self?: object } = {};
cycle.self = cycle;

test.each([
  ['a cycle', { usage: cycle }, TypeError],
  ['a bigint', { usage: { prompt_tokens: 1n } }, TypeError],
  ['a function', { usage: () => 1 }, TypeError],
  ['too long', { usage: { text: TEXT } }, RangeError],
  ['no number', { units: { input_tokens: Number.NaN } }, RangeError],
])('what is %s is not sent', async (_, fields, kind) => {
  const km = client();
  const key = await (await account()).key();
  const options = { model: 'mine', ...fields };
  await expect(km.charge(key.text, options)).rejects.toThrow(kind);
  const both = [
    { key: key.text, quota: 1 },
    { key: key.text, ...options },
  ];
  await expect(km.charges(both)).rejects.toThrow(kind);
  await expect(km.settle('r1.1', fields)).rejects.toThrow(kind);
  expect(await key.used()).toBe(0);
  const work = km.spend(key.text, { model: 'mine', quota: 5 }, (spend) => spend.cost(fields));
  await expect(work).rejects.toThrow(kind);
  expect(await key.used()).toBe(5);
});

test('of a whole answer only what a cost depends on is sent', async () => {
  const { model, service_tier, usage } = CHAT;
  expect(plain(toJSON(CHAT))).toEqual({ model, service_tier, usage });
  const output = [{ type: 'web_search_call' }, { type: 'message' }];
  expect(plain({ id: 'r', ...RESPONSE })).toEqual({ ...RESPONSE, output });
  const { modelVersion, usageMetadata } = GEMINI;
  expect(plain(GEMINI)).toEqual({ modelVersion, usageMetadata });
  expect(plain({ usage_metadata: {}, candidates: [] })).toEqual({ usage_metadata: {} });
  expect(plain({ usage: {}, output: TEXT })).toEqual({ usage: {} });
  // A usage alone, or an answer with another root.
  const other = { stats: { read: 7 }, model: 'm', text: 't' };
  for (const whole of [MESSAGE, other, 'text']) expect(plain(whole)).toEqual(whole);
});
