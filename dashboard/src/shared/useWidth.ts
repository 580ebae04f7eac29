import { useLayoutEffect, useRef, useState } from 'react';

/** The inner width in pixels of the element with `ref`. Undefined before the first measurement. */
export function useWidth<Container extends HTMLElement = HTMLDivElement>() {
  const ref = useRef<Container>(null);
  const [width, setWidth] = useState<number>();

  useLayoutEffect(() => {
    const container = ref.current;
    if (!container) return;
    const measure = () => setWidth(container.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(container);
    return () => observer.disconnect();
  }, []);

  return { ref, width };
}
