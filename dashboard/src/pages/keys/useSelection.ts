import { useState } from 'react';
import type { Token } from '../../api/tokens';

/** Which of the shown tokens are chosen. Those that are not shown never are. */
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
