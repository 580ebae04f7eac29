import { useLayoutEffect, useRef, useState } from 'react';

/** Whether the element with `ref` is narrower than `width` rem. Undefined before the first measurement. */
export function useIsNarrow<Container extends HTMLElement = HTMLDivElement>(width: number) {
  const ref = useRef<Container>(null);
  const [isNarrow, setIsNarrow] = useState<boolean>();

  useLayoutEffect(() => {
    const container = ref.current;
    if (!container) return;
    const measure = () => {
      const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
      setIsNarrow(container.clientWidth < width * rem);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(container);
    return () => observer.disconnect();
  }, [width]);

  return { ref, isNarrow };
}
