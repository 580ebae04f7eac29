import type { QueryClient } from '@tanstack/react-query';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

/** The change that ends a refusal, and whether the reader may make it. */
export type Remedy = components['schemas']['RemedyBody'];
/** A refused request would pass now. */
export type Cure = components['schemas']['CureBody'];

const outlookKeys = [
  ['admin', 'overview'],
  ['admin', 'usage', 'requests'],
  [...tokensKey, 'overview'],
  [...tokensKey, 'requests'],
];

/** After a change that may have cured refusals. */
export function reloadOutlooks(client: QueryClient) {
  for (const queryKey of outlookKeys) client.invalidateQueries({ queryKey });
}
