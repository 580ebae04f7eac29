import { useEffect, useState } from 'react';
import { copyText } from './copyText';

const SHOWN_MS = 2000;

/** `onCopy` is called if the text was copied. */
export function useCopy(onCopy?: () => void) {
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(value: string) {
    if (!(await copyText(value))) return;
    setCopied(true);
    onCopy?.();
  }

  return { copied, copy };
}
