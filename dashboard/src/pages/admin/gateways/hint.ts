import type { Credential } from '../../../api/adminGateways';

/** How people tell credentials apart: by their last characters, or by their number where those were not kept. */
export function hintOf({ id, hint }: Pick<Credential, 'id' | 'hint'>): string {
  return hint === '' ? `#${id}` : `…${hint}`;
}
