import { useWidth } from './useWidth';

/** Whether the element with `ref` is narrower than `rems`. Undefined before the first measurement. */
export function useIsNarrow<Container extends HTMLElement = HTMLDivElement>(rems: number) {
  const { ref, width } = useWidth<Container>();
  const isNarrow = width === undefined ? undefined : width < rems * rootFontSize();
  return { ref, isNarrow };
}

function rootFontSize(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}
