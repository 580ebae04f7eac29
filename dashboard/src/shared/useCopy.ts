import { useEffect, useState } from 'react';
import { texts } from '../texts';
import { notifyFailure } from './notify';

const SHOWN_MS = 2000;

export function useCopy() {
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(value: string) {
    try {
      // `clipboard` is undefined if the page is loaded over plain HTTP from another machine.
      await navigator.clipboard.writeText(value);
      setCopied(true);
    } catch {
      notifyFailure(new Error(texts.common.copyFailed));
    }
  }

  return { copied, copy };
}
