import { useEffect, useState } from 'react';
import { mayBeSecret } from '../mayBeSecret';

/** Not in an address: a text that may be a key, for the list that opens next. */
let handedOver = '';

export function handOver(text: string) {
  handedOver = mayBeSecret(text) ? text : '';
}

/** The text of a search that may be a key. It may come from another list. */
export function useSecretText() {
  const state = useState(handedOver);
  useEffect(() => handOver(''), []);
  return state;
}
