import { PAGE_SIZE } from '../../../api/page';
import { usePageSize } from '../../../shared/usePageSize';

const CHOICES: [number, ...number[]] = [PAGE_SIZE, 50, 100];

/** How many rows a list shows on a page, and what changes it. */
export interface PageSizes {
  size: number;
  choices: number[];
  onChoose: (size: number) => void;
}

/** How many rows a page has, as the user chose. After a change, the first row that was shown stays on the page. */
export function useListPageSize(
  storageKey: string,
  { page, replacePage }: { page: number; replacePage: (page: number) => void },
): PageSizes {
  const [size, setSize] = usePageSize(storageKey, CHOICES);
  return {
    size,
    choices: CHOICES,
    onChoose: (chosen) => {
      // The page that begins with what is shown.
      replacePage(Math.floor((page * size) / chosen));
      setSize(chosen);
    },
  };
}
