import { useRef, useState } from 'react';
import type { Token } from '../../api/tokens';
import { rangeOf, type Selected, withTokens } from './selected';

/** The selected tokens. They stay selected when the list shows another page. */
export interface Selection {
  tokens: Token[];
  /** How many of them the list does not show. */
  elsewhere: number;
  /** The list shows no tokens, or none yet. */
  nothingShown: boolean;
  /** All shown tokens are selected. */
  all: boolean;
  /** Some shown tokens are selected. */
  some: boolean;
  has: (token: Token) => boolean;
  /** With `extend`, also changes the tokens between this one and the one changed before. */
  toggle: (token: Token, extend: boolean) => void;
  toggleAll: () => void;
  /** Deselects these tokens. */
  remove: (tokens: Token[]) => void;
  clear: () => void;
}

export function useSelection(shown: Token[]): Selection {
  const [selected, setSelected] = useState<Selected>(new Map());
  const anchor = useRef<number>(undefined);
  const shownSelected = shown.filter(({ id }) => selected.has(id));
  // The list has the present state of the tokens that it shows.
  const current = new Map(shownSelected.map((token) => [token.id, token]));
  const all = shown.length > 0 && shownSelected.length === shown.length;
  return {
    tokens: [...selected.values()].map((token) => current.get(token.id) ?? token),
    elsewhere: selected.size - shownSelected.length,
    nothingShown: shown.length === 0,
    all,
    some: shownSelected.length > 0,
    has: ({ id }) => selected.has(id),
    toggle: (token, extend) => {
      const changed = extend ? rangeOf(shown, anchor.current, token) : [token];
      anchor.current = token.id;
      setSelected(withTokens(selected, changed, !selected.has(token.id)));
    },
    toggleAll: () => setSelected(withTokens(selected, shown, !all)),
    remove: (tokens) => setSelected((before) => withTokens(before, tokens, false)),
    clear: () => setSelected(new Map()),
  };
}
