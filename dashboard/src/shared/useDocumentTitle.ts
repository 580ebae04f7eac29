import { useEffect } from 'react';
import { texts } from '../texts';
import { useBrand } from './useBrand';

export function useDocumentTitle(title: string) {
  // The name in index.html until the own one is known.
  const name = useBrand()?.name ?? texts.common.appName;
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
}
