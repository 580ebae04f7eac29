import { useEffect } from 'react';
import { texts } from '../texts';

export function useDocumentTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · ${texts.common.appName}`;
  }, [title]);
}
