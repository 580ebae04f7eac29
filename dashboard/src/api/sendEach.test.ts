import { describe, expect, it } from 'vitest';
import { makeToken } from '../test/makeToken';
import { sendEach } from './sendEach';

const tokens = Array.from({ length: 20 }, (_, index) => makeToken({ id: index + 1 }));
const refusal = new Error('no');
const refuse = async () => {
  throw refusal;
};

describe('sendEach', () => {
  it('sends one request for each token, and few at the same time', async () => {
    let sending = 0;
    let most = 0;
    const { done, refused } = await sendEach(tokens, async (token) => {
      sending += 1;
      most = Math.max(most, sending);
      await Promise.resolve();
      sending -= 1;
      return { ...token, name: 'sent' };
    });
    expect(done.map(({ id }) => id).sort((one, other) => one - other)).toEqual(tokens.map(({ id }) => id));
    expect(new Set(done.map(({ name }) => name))).toEqual(new Set(['sent']));
    expect(refused).toEqual([]);
    expect(most).toBe(6);
  });

  it('goes on after a refusal', async () => {
    const { done, refused } = await sendEach(tokens, (token) =>
      token.id === 3 ? refuse() : Promise.resolve(token),
    );
    expect(done).toHaveLength(19);
    expect(refused).toEqual([{ token: tokens[2], error: refusal }]);
  });

  it('throws if all are refused, and sends nothing for none', async () => {
    await expect(sendEach(tokens, refuse)).rejects.toBe(refusal);
    expect(await sendEach([], refuse)).toEqual({ done: [], refused: [] });
  });
});
