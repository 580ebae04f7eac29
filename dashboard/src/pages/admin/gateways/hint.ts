import type { Credential } from '../../../api/adminGateways';

/** Identifies a credential by its last characters, or by its ID if they are not stored. */
export function hintOf({ id, hint }: Pick<Credential, 'id' | 'hint'>): string {
  return hint === '' ? `#${id}` : `…${hint}`;
}
