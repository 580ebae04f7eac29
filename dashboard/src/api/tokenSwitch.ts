import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeTokens } from './changeTokens';
import { api, call } from './client';
import { reloadOutlooks } from './outlook';
import { roles } from './serverLimits';
import type { User } from './session';
import { replaceTokens, tokensKey } from './tokenCache';
import type { Token } from './tokens';

export const ENABLED = 1;
export const DISABLED = 2;

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

/** Switches all or none. */
async function switchAll({ tokens, on }: Switching): Promise<Token[]> {
  const status = on ? ENABLED : DISABLED;
  const [first, ...others] = tokens;
  if (!first) return [];
  if (others.length > 0) return changeTokens(tokens, { status });
  const params = { query: { status_only: '1' } };
  return [await call(api.PUT('/api/token/', { params, body: { id: first.id, status } }))];
}

/** Enables or disables tokens, all or none. Optimistic: if the server refuses, they return to their old status. */
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
    onSuccess: (switched) => replaceTokens(client, switched),
    onError: (_, { tokens }) => replaceTokens(client, tokens.map(answered)),
    // Lists with another filter are loaded again when they are shown.
    onSettled: () => {
      client.invalidateQueries({ queryKey: tokensKey, refetchType: 'none' });
      reloadOutlooks(client);
    },
  });
}
