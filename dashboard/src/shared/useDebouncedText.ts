import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

const DEBOUNCE_MS = 400;

/** The text of an input. Reports it after a pause in typing, if it is acceptable. */
export function useDebouncedText(
  value: string,
  onChange: (text: string) => void,
  isAcceptable: (text: string) => boolean,
) {
  const [typed, setTyped] = useState<string>();
  const report = useDebouncedCallback((text: string) => {
    if (!isAcceptable(text)) return;
    onChange(text);
    setTyped(undefined);
  }, DEBOUNCE_MS);
  return {
    text: typed ?? value,
    type: (text: string) => {
      setTyped(text);
      report(text);
    },
  };
}
