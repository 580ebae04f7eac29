import { useEffect, useRef, useState } from 'react';

/**
 * Props that make an element scroll its overflow, also by keyboard. While there is overflow, the element is a focusable
 * region named `label`.
 */
export function useScrollRegion<Region extends HTMLElement = HTMLDivElement>(label: string) {
  const ref = useRef<Region>(null);
  const [scrolls, setScrolls] = useState(false);

  // Runs after every render: new content can change the overflow without resizing the region.
  useEffect(() => {
    const region = ref.current;
    if (!region) return;
    const observer = new ResizeObserver(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = region;
      setScrolls(scrollWidth > clientWidth || scrollHeight > clientHeight);
    });
    observer.observe(region);
    for (const content of region.children) observer.observe(content);
    return () => observer.disconnect();
  });

  const stop = scrolls && { role: 'region', tabIndex: 0, 'aria-label': label };
  // `relative` keeps absolutely positioned children, such as hidden labels, from widening the page.
  return { ref, style: { overflow: 'auto', position: 'relative' } as const, ...stop };
}
