import { useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/**
 * Props that make an element scroll its overflow, also by keyboard. While there is overflow, the element is a focusable
 * region named `label`.
 */
export function useScrollRegion<Region extends HTMLElement = HTMLDivElement>(label: string) {
  const ref = useRef<Region>(null);
  const [scrolls, setScrolls] = useState(false);

  // Runs after every render: new content can change the overflow without resizing the region.
  useLayoutEffect(() => {
    const region = ref.current;
    if (!region) return;
    const observer = new ResizeObserver(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = region;
      const isOverflowing = scrollWidth > clientWidth || scrollHeight > clientHeight;
      // In the frame of the overflow, so that the keyboard reaches the region from the beginning.
      if (isOverflowing !== scrolls) flushSync(() => setScrolls(isOverflowing));
    });
    observer.observe(region);
    for (const content of region.children) observer.observe(content);
    return () => observer.disconnect();
  });

  const stop = scrolls && { role: 'region', tabIndex: 0, 'aria-label': label };
  // `relative` keeps absolutely positioned children, such as hidden labels, from widening the page.
  return { ref, style: { overflow: 'auto', position: 'relative' } as const, ...stop };
}
