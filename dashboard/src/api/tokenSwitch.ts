import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import { roles } from './serverLimits';
import type { User } from './session';
import { replaceTokens, tokensKey } from './tokenCache';
import type { Token } from './tokens';

const ENABLED = 1;
const DISABLED = 2;

/** Expired and exhausted tokens count as enabled: only status 2 is disabled. */
export function isSwitchedOn(token: Token): boolean {
  return token.status !== DISABLED;
}

/**
 * Who disabled the token, if this user must not enable it again. The server enforces this; the dashboard only hides the
 * action.
 */
export function lockedBy(user: Pick<User, 'role'>, token: Token): 'administrator' | 'root' | undefined {
  const who = isSwitchedOn(token) ? undefined : token.disabled_by;
  if (who !== 'administrator' && who !== 'root') return undefined;
  return user.role >= roles[who] ? undefined : who;
}

/** The token as it is shown until the server has answered. What state it gets is not known: it may be used up. */
export function asked<T extends Token>(token: T, on: boolean): T {
  return { ...token, status: on ? ENABLED : DISABLED, switching: true };
}

/** The token after a refusal. It may have been switched again before the answer. */
export function answered<T extends Token>(token: T): T {
  return { ...token, switching: undefined };
}

interface Switching {
  tokens: Token[];
  on: boolean;
}

interface Refused {
  token: Token;
  error: Error;
}

function putStatus(id: number, on: boolean) {
  const body = { id, status: on ? ENABLED : DISABLED };
  return call(api.PUT('/api/token/', { params: { query: { status_only: '1' } }, body }));
}

/** What became of each token. */
export interface Switched {
  switched: Token[];
  refused: Refused[];
}

/** How many requests are sent at the same time. */
const PARALLEL = 6;

async function switchAll({ tokens, on }: Switching): Promise<Switched> {
  const switched: Token[] = [];
  const refused: Refused[] = [];
  const waiting = [...tokens];
  async function work() {
    for (let token = waiting.shift(); token; token = waiting.shift()) {
      try {
        switched.push(await putStatus(token.id, on));
      } catch (error) {
        refused.push({ token, error: error as Error });
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  if (switched.length === 0 && refused[0]) throw refused[0].error;
  return { switched, refused };
}

/** Enables or disables tokens. Optimistic: tokens that the server refuses return to their old status. */
export function useSwitchTokens() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: switchAll,
    onMutate: async ({ tokens, on }) => {
      await client.cancelQueries({ queryKey: tokensKey });
      replaceTokens(
        client,
        tokens.map((token) => asked(token, on)),
      );
    },
    onSuccess: ({ switched, refused }) =>
      replaceTokens(client, [...switched, ...refused.map(({ token }) => answered(token))]),
    onError: (_, { tokens }) => replaceTokens(client, tokens.map(answered)),
    // Lists with another filter are loaded again when they are shown.
    onSettled: () => client.invalidateQueries({ queryKey: tokensKey, refetchType: 'none' }),
  });
}
