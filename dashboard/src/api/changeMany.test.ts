import { describe, expect, it, vi } from 'vitest';
import { beginning, changeMany, type Part, type Progress, type SendPart, waitFor } from './changeMany';
import { ApiError } from './error';

const fault = (user_id: number) => ({
  user_id,
  username: `user ${user_id}`,
  id: null,
  error: 'role_too_low',
  message: 'no',
});
const limited = (seconds?: number) => new ApiError(429, 'rate_limited', 'too many rows', seconds);

/** Answers with each of these, and records what was sent. */
function server(...answers: (Part | Error)[]) {
  const sent: { after: number | undefined; key: string }[] = [];
  const send: SendPart = async (after, key) => {
    sent.push({ after, key });
    const answer = answers.shift();
    if (!answer || answer instanceof Error) throw answer ?? new Error('asked too often');
    return answer;
  };
  return { send, sent };
}

function steps({ stopAt }: { stopAt?: number } = {}) {
  const stop = new AbortController();
  const waits: (number | undefined)[] = [];
  const reports: Progress[] = [];
  return {
    waits,
    reports,
    signal: stop.signal,
    wait: async ({ retryAfter }: ApiError) => {
      waits.push(retryAfter);
      if (waits.length === stopAt) stop.abort();
    },
    onProgress: (progress: Progress) => {
      reports.push(progress);
    },
  };
}

describe('a change of many tokens', () => {
  it('goes through the owners, each call with a key of its own', async () => {
    const { send, sent } = server(
      { changed: 900, faults: [fault(3)], next: 7 },
      { changed: 12, faults: [fault(9)], next: null },
    );
    const taken = steps();
    const outcome = await changeMany(send, beginning(), taken);
    expect(outcome).toMatchObject({ changed: 912, faults: [fault(3), fault(9)], isStopped: false });
    expect(sent.map(({ after }) => after)).toEqual([undefined, 7]);
    expect(sent[0]?.key).not.toBe(sent[1]?.key);
    expect(taken.reports.map(({ changed }) => changed)).toEqual([900]);
  });

  it('waits as long as the server says and sends the same again', async () => {
    const { send, sent } = server(limited(23), limited(1), { changed: 4_999, faults: [] });
    const taken = steps();
    await expect(changeMany(send, beginning(), taken)).resolves.toMatchObject({ changed: 4_999 });
    expect(taken.waits).toEqual([23, 1]);
    expect(taken.reports.map(({ changed }) => changed)).toEqual([0, 0]);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  });

  it('stops while it waits, and says what was changed before', async () => {
    const { send, sent } = server({ changed: 3, faults: [], next: 7 }, limited(60));
    const outcome = await changeMany(send, beginning(), steps({ stopAt: 1 }));
    expect(outcome).toMatchObject({ changed: 3, after: 7, isStopped: true });
    expect(sent.length).toBe(2);
  });

  it('fails with any other refusal, and goes on from there with the same key', async () => {
    const { send, sent } = server(
      { changed: 3, faults: [], next: 7 },
      new ApiError(503, 'server_busy', 'busy', 1),
      { changed: 2, faults: [], next: null },
    );
    const taken = steps();
    await expect(changeMany(send, beginning(), taken)).rejects.toThrow('busy');
    const [known = beginning()] = taken.reports;
    await expect(changeMany(send, known, taken)).resolves.toMatchObject({ changed: 5 });
    expect(sent.map(({ after }) => after)).toEqual([undefined, 7, 7]);
    expect(sent[1]?.key).toBe(sent[2]?.key);
    expect(taken.waits).toEqual([]);
  });

  it('does not wait for a refusal that does not say how long', async () => {
    const { send } = server(limited());
    await expect(changeMany(send, beginning(), steps())).rejects.toThrow('too many rows');
  });
});

it('ends a wait when it is stopped', async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  const waited = waitFor(limited(60), stop.signal);
  stop.abort();
  await waited;
  expect(vi.getTimerCount()).toBe(0);
  const whole = waitFor(limited(60), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await whole;
  vi.useRealTimers();
});

it('does not wait when it was stopped before', async () => {
  vi.useFakeTimers();
  await waitFor(limited(60), AbortSignal.abort());
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
