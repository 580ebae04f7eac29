import type { Token } from './tokens';

interface Refused {
  token: Token;
  error: Error;
}

/** What became of each token. */
export interface Outcome {
  done: Token[];
  refused: Refused[];
}

/** How many requests are sent at the same time. */
const PARALLEL = 6;

/** Sends one request for each token. Throws if the server refuses all of them. */
export async function sendEach(tokens: Token[], send: (token: Token) => Promise<Token>): Promise<Outcome> {
  const done: Token[] = [];
  const refused: Refused[] = [];
  const waiting = [...tokens];
  async function work() {
    for (let token = waiting.shift(); token; token = waiting.shift()) {
      try {
        done.push(await send(token));
      } catch (error) {
        refused.push({ token, error: error as Error });
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  if (done.length === 0 && refused[0]) throw refused[0].error;
  return { done, refused };
}
