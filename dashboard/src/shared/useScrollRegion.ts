import { useEffect, useRef, useState } from 'react';

/**
 * Spread on an element, the result lets it scroll what is larger than it, by keyboard too: while it scrolls, it is
 * a stop of the Tab key with `label` as its name, from where the arrow keys scroll it.
 */
export function useScrollRegion<Region extends HTMLElement = HTMLDivElement>(label: string) {
  const ref = useRef<Region>(null);
  const [scrolls, setScrolls] = useState(false);

  // After every render, because new content may have another width at the same size of the region.
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
  // What is placed absolutely in it, as hidden labels are, would else make the whole page as wide as its content.
  return { ref, style: { overflow: 'auto', position: 'relative' } as const, ...stop };
}
