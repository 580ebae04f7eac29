import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

const DEBOUNCE_MS = 400;

/** The text of an input. Reports it after a pause in typing, if it is acceptable. */
export function useDebouncedText(
  value: string,
  onSettled: (text: string) => void,
  isAcceptable: (text: string) => boolean,
) {
  const [typed, setTyped] = useState<string>();
  const settle = useDebouncedCallback((text: string) => {
    if (!isAcceptable(text)) return;
    onSettled(text);
    setTyped(undefined);
  }, DEBOUNCE_MS);
  return {
    text: typed ?? value,
    type: (text: string) => {
      setTyped(text);
      settle(text);
    },
  };
}
