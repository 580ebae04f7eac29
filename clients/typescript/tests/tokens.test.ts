/** Each call for one's own tokens, against the real service. */

import { expect, test } from 'vitest';
import {
  BadRequest,
  Conflict,
  InvalidAccessToken,
  KeymeterTokens,
  NotAllowed,
  NotFound,
  type Token,
  TokenChanged,
} from '../src/index.ts';
import { account, administration, client, lossyProxy, service, tokenClient } from './context.ts';

async function all(tokens: AsyncIterable<Token>): Promise<Token[]> {
  const found: Token[] = [];
  for await (const token of tokens) found.push(token);
  return found;
}

/** What a call throws. */
function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
}

test('a token is created with every field and read back', async () => {
  const tokens = await tokenClient();
  const expiredTime = Math.floor(Date.now() / 1000) + 3600;
  const fields = {
    remainQuota: 500,
    expiredTime,
    modelLimitsEnabled: true,
    group: 'auto',
    crossGroupRetry: true,
    showAddresses: true,
    note: 'of the team',
  };
  const made = await tokens.create('ci', {
    ...fields,
    periodLimits: { day: 100 },
    rateLimits: { tokensPerMinute: 3 },
    modelLimits: ['gpt-5', 'o1-*'],
    allowIps: ['10.0.0.0/8', '::1'],
  });
  expect(made.key).toMatch(/^sk-/);
  expect(made).toMatchObject({
    ...fields,
    name: 'ci',
    periodLimits: { day: 100, week: -1, month: -1 },
    rateLimits: { requestsPerMinute: -1, tokensPerMinute: 3, concurrency: -1 },
    modelLimits: 'gpt-5,o1-*',
    allowIps: '10.0.0.0/8\n::1',
    state: 'working',
    periodUsage: { day: { limit: 100, used: 0, remaining: 100, resetsAt: expect.any(Number) } },
  });
  const read = await tokens.get(made.id);
  expect(read).toEqual(made);
  expect([read.key, read.etag]).toEqual(['', expect.stringMatching(/^"\d+"$/)]);
  expect(await tokens.reveal(made.id)).toBe(made.key);
});

test('a list has every token and its filters', async () => {
  const tokens = await tokenClient();
  const made: Token[] = [];
  for (const count of [100, 100, 30]) {
    const some = Array.from({ length: count }, (_, index) => ({ name: `n${made.length + index}` }));
    made.push(...(await tokens.createMany(some)));
  }
  expect(made.map(({ name }) => name)).toEqual(made.map((_, index) => `n${index}`));
  expect(made.every(({ key, etag }) => key.startsWith('sk-') && etag === '')).toBe(true);
  const ids = made.map(({ id }) => id);
  expect((await all(tokens.list())).map(({ id }) => id)).toEqual([...ids].reverse());
  const [first] = await all(tokens.list({ sort: 'id', order: 'asc' }));
  expect(first?.id).toBe(ids[0]);
  await tokens.updateMany(ids.slice(0, 3), { status: 2 });
  expect(await all(tokens.list({ status: 2 }))).toHaveLength(3);
  expect(await thrown(tokens.list({ group: 'elsewhere' }).next())).toMatchObject({ code: 'invalid_filter' });
  for await (const { id } of tokens.list()) await tokens.delete(id);
  expect(await all(tokens.list())).toEqual([]);
  expect(new Set((await all(tokens.listDeleted())).map(({ id }) => id))).toEqual(new Set(ids));
}, 60_000);

test('an update changes the fields that it names', async () => {
  const tokens = await tokenClient();
  const made = await tokens.create('n', { remainQuota: 10, note: 'old', periodLimits: { day: 5 } });
  const changed = await tokens.update(made.id, { note: 'new', addQuota: 5, periodLimits: { week: 7 } });
  expect(changed).toMatchObject({
    name: 'n',
    note: 'new',
    remainQuota: 15,
    periodLimits: { day: 5, week: 7 },
  });
  expect(['', made.etag]).not.toContain(changed.etag);
  expect((await tokens.update(made.id, { note: '' })).note).toBe('');
  const refused = await thrown(tokens.update(made.id, { addQuota: -16 }));
  expect(refused).toBeInstanceOf(Conflict);
  expect(refused).toMatchObject({ status: 409, code: 'insufficient_quota' });
});

test('an edit of somebody else is not overwritten', async () => {
  const tokens = await tokenClient();
  const { id, etag } = await tokens.create('n');
  const theirs = await tokens.update(id, { ifMatch: etag, note: 'theirs' });
  for (const call of [
    () => tokens.update(id, { ifMatch: etag, note: 'mine' }),
    () => tokens.delete(id, { ifMatch: etag }),
  ]) {
    const refused = await thrown(call());
    expect(refused).toBeInstanceOf(TokenChanged);
    expect(refused).toMatchObject({ status: 412, code: 'token_changed', etag: theirs.etag });
  }
  expect((await tokens.get(id)).note).toBe('theirs');
  expect((await tokens.update(id, { ifMatch: theirs.etag, note: 'mine' })).note).toBe('mine');
  const [listed] = await all(tokens.list());
  await expect(tokens.update(id, { ifMatch: listed?.etag })).rejects.toThrow('came from a list');
});

test('a deleted token is listed and restored', async () => {
  const tokens = await tokenClient();
  const km = client();
  const made = await tokens.create('n', { remainQuota: 9 });
  await tokens.delete(made.id, { ifMatch: made.etag });
  expect((await km.verify(made.key)).valid).toBe(false);
  const deleted = await all(tokens.listDeleted());
  expect(deleted).toMatchObject([
    { id: made.id, deletedTime: expect.any(Number), restorableUntil: expect.any(Number) },
  ]);
  expect(await thrown(tokens.delete(made.id))).toBeInstanceOf(NotFound);
  const restored = await tokens.restore(made.id);
  expect(restored).toEqual(await tokens.get(made.id));
  expect(restored).toMatchObject({ remainQuota: 9 });
  expect((await km.verify(made.key)).valid).toBe(true);
  expect(await thrown(tokens.restore(made.id))).toMatchObject({ status: 404, code: 'not_found' });
});

test('a key is replaced and the old one ends', async () => {
  const tokens = await tokenClient();
  const km = client();
  const { id, key, maskedKey } = await tokens.create('n', { remainQuota: 9 });
  const rotated = await tokens.rotate(id, { graceSeconds: 600 });
  expect(['', key]).not.toContain(rotated.key);
  expect(rotated).toEqual({
    id,
    maskedKey: expect.any(String),
    oldKeys: [{ id: expect.any(Number), maskedKey, rotatedAt: expect.any(Number) }],
  });
  expect(await km.verify(key)).toMatchObject({ valid: true, keyExpiresAt: expect.any(Number) });
  expect((await km.charge(rotated.key, { quota: 1 })).remainQuota).toBe(8);
  const [old] = await tokens.oldKeys(id);
  expect(old?.expiresAt).toBeTypeOf('number');
  await tokens.endOldKey(id, old?.id ?? 0);
  expect(await tokens.oldKeys(id)).toEqual([]);
  expect(await tokens.oldKeys(id, { ended: true })).toMatchObject([{ id: old?.id }]);
  expect(await thrown(tokens.endOldKey(id, old?.id ?? 0))).toBeInstanceOf(NotFound);
  const last = await tokens.rotate(id, { graceSeconds: 0, graceFrom: 'now' });
  expect(last.oldKeys).toEqual([]);
  expect(await tokens.reveal(id)).toBe(last.key);
  expect(await thrown(tokens.rotate(id, { graceSeconds: -1 }))).toMatchObject({ code: 'invalid_grace' });
});

test('many are changed all or none', async () => {
  const tokens = await tokenClient();
  const bad = await thrown(tokens.createMany([{ name: 'a' }, { name: '' }]));
  expect(bad).toBeInstanceOf(BadRequest);
  expect(bad).toMatchObject({ code: 'invalid_name', index: 1 });
  expect(await all(tokens.list())).toEqual([]);
  const made = await tokens.createMany([
    { name: 'a', remainQuota: 9 },
    { name: 'b', remainQuota: 1 },
  ]);
  const ids = made.map(({ id }) => id);
  const poor = await thrown(tokens.updateMany(ids, { addQuota: -5 }));
  expect(poor).toMatchObject({ code: 'insufficient_quota', tokenId: ids[1] });
  const changed = await tokens.updateMany(ids, { addQuota: 5, note: 'both', status: 2 });
  expect(changed).toMatchObject([
    { remainQuota: 14, note: 'both', status: 2 },
    { remainQuota: 6, note: 'both', status: 2 },
  ]);
});

test('what has no answer is carried out once', async () => {
  const proxy = await lossyProxy();
  const tokens = await tokenClient(proxy.url);
  const lost = async <T>(call: () => Promise<T>): Promise<T> => {
    const before = proxy.lost;
    proxy.lose = 1;
    const result = await call();
    expect(proxy.lost).toBe(before + 1);
    return result;
  };
  const { id, etag } = await lost(() => tokens.create('n', { remainQuota: 10 }));
  await lost(() => tokens.createMany([{ name: 'a' }, { name: 'b' }]));
  expect(await all(tokens.list())).toHaveLength(3);
  // Also with the version that its first try has changed.
  expect((await lost(() => tokens.update(id, { ifMatch: etag, addQuota: 5 }))).remainQuota).toBe(15);
  expect(await lost(() => tokens.updateMany([id], { addQuota: 5 }))).toMatchObject([{ remainQuota: 20 }]);
  const { key, oldKeys } = await lost(() => tokens.rotate(id));
  expect(await tokens.reveal(id)).toBe(key);
  expect(oldKeys).toHaveLength(1);
  await lost(() => tokens.endOldKey(id, oldKeys[0]?.id ?? 0));
  const { etag: present } = await tokens.get(id);
  await lost(() => tokens.delete(id, { ifMatch: present }));
  expect((await lost(() => tokens.restore(id))).remainQuota).toBe(20);
});

test('a key of the caller repeats a call', async () => {
  const tokens = await tokenClient();
  const once = { idempotencyKey: 'my deployment' };
  const made = await tokens.create('n', once);
  const again = await tokens.create('n', once);
  expect([again.id, again.key]).toEqual([made.id, made.key]);
  const reused = await thrown(tokens.create('other', once));
  expect(reused).toBeInstanceOf(Conflict);
  expect(reused).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
});

test('who may not is refused', async () => {
  const nobody = new KeymeterTokens({ url: service.url, accessToken: 'kma_wrong' });
  const unknown = await thrown(nobody.list().next());
  expect(unknown).toBeInstanceOf(InvalidAccessToken);
  expect(unknown).toMatchObject({ status: 401, code: 'invalid_credential' });
  const { userId, accessToken } = await administration.account();
  await administration.root('PATCH', `/api/admin/users/${userId}`, { token_api_enabled: false });
  const refused = await thrown(new KeymeterTokens({ url: service.url, accessToken }).create('n'));
  expect(refused).toBeInstanceOf(NotAllowed);
  expect(refused).toMatchObject({ code: 'token_api_not_enabled' });
});

test('a token of somebody else is not there', async () => {
  const tokens = await tokenClient();
  const { tokenId } = await (await account()).key();
  const calls: (() => Promise<unknown>)[] = [
    () => tokens.get(tokenId),
    () => tokens.reveal(tokenId),
    () => tokens.delete(tokenId),
    () => tokens.restore(tokenId),
    () => tokens.rotate(tokenId),
    () => tokens.oldKeys(tokenId),
  ];
  for (const call of calls) expect(await thrown(call())).toBeInstanceOf(NotFound);
  expect(await thrown(tokens.update(tokenId, { note: 'mine' }))).toBeInstanceOf(NotFound);
});
