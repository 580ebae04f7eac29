import { api, call } from './client';
import { ApiError } from './error';
import type { components } from './schema';
import type { Token } from './tokens';

type Changes = components['schemas']['BulkChangeBody']['set'];

/** Changes all these tokens in the same way, or none. A refusal has the name of the token that is the reason. */
export async function changeTokens(tokens: Token[], changes: Omit<Changes, 'id'>): Promise<Token[]> {
  // In the document, the type is that of an update, which has the ID of its token.
  const set = changes as Changes;
  try {
    return await call(api.PATCH('/api/token/bulk', { body: { ids: tokens.map(({ id }) => id), set } }));
  } catch (error) {
    throw error instanceof ApiError ? error.aboutOneOf(tokens) : error;
  }
}
