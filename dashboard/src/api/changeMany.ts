import { ApiError, hasCode } from './error';
import { newIdempotencyKey } from './idempotencyKey';
import type { components } from './schema';

/** Why the tokens of an owner were not changed. */
export type TokenFault = components['schemas']['TokenFaultBody'];

/** What became of some of the owners, and where the next call goes on. */
export interface Part {
  changed: number;
  faults: TokenFault[];
  next?: number | null;
}

/** How far a change of many tokens has come. */
export interface Progress {
  changed: number;
  faults: TokenFault[];
  /** Where the next call begins. */
  after: number | undefined;
  /** Of the next call, so that it is carried out once, however often it is sent. */
  key: string;
}

export interface Outcome extends Progress {
  /** The reader stopped it before all owners were reached. */
  isStopped: boolean;
}

/** Sends one part of a change. */
export type SendPart = (after: number | undefined, key: string) => Promise<Part>;

export interface Steps {
  /** Resolves after the wait that the refusal asks for, or when `signal` aborts. */
  wait: (refusal: ApiError) => Promise<void>;
  /** Called after each part but the last, and before each wait. */
  onProgress: (progress: Progress) => void;
  /** Stops before the next call. One that was sent is not taken back. */
  signal: AbortSignal;
}

export function beginning(): Progress {
  return { changed: 0, faults: [], after: undefined, key: newIdempotencyKey() };
}

/** Sends one part after the other. While the server limits how much is written, waits as long as it says and goes on. */
export async function changeMany(send: SendPart, from: Progress, steps: Steps): Promise<Outcome> {
  let progress = from;
  while (!steps.signal.aborted) {
    const part = await sendOrRefuse(send, progress);
    if (part instanceof ApiError) {
      steps.onProgress(progress);
      await steps.wait(part);
      continue;
    }
    const { changed, faults, next } = part;
    progress = {
      changed: progress.changed + changed,
      faults: [...progress.faults, ...faults],
      after: next ?? undefined,
      key: newIdempotencyKey(),
    };
    if (next == null) return { ...progress, isStopped: false };
    steps.onProgress(progress);
  }
  return { ...progress, isStopped: true };
}

/** Returns the refusal of what may be sent again. Throws all others. */
async function sendOrRefuse(send: SendPart, { after, key }: Progress): Promise<Part | ApiError> {
  try {
    return await send(after, key);
  } catch (error) {
    if (error instanceof ApiError && hasCode(error, 'rate_limited') && error.retryAfter !== undefined)
      return error;
    throw error;
  }
}

const SECOND_MS = 1000;

/** Waits as long as the refusal says, or until it is stopped. */
export function waitFor({ retryAfter = 0 }: ApiError, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(end, retryAfter * SECOND_MS);
    signal.addEventListener('abort', end);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}
