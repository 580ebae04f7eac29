import { useState } from 'react';
import type { Token } from '../../api/tokens';

/** The selected tokens among the shown tokens. */
export interface Selection {
  tokens: Token[];
  all: boolean;
  has: (token: Token) => boolean;
  toggle: (token: Token) => void;
  toggleAll: () => void;
  clear: () => void;
}

export function useSelection(shown: Token[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
  const tokens = shown.filter(({ id }) => ids.has(id));
  const all = shown.length > 0 && tokens.length === shown.length;
  return {
    tokens,
    all,
    has: ({ id }) => ids.has(id),
    toggle: ({ id }) =>
      setIds((before) => {
        const after = new Set(before);
        if (!after.delete(id)) after.add(id);
        return after;
      }),
    toggleAll: () => setIds(new Set(all ? [] : shown.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  };
}
