import { type MouseEvent, useCallback } from 'react';
import { useLocation } from 'wouter';

const CONTROLS = 'a, button, input, label, select, textarea, [role="switch"]';

/**
 * Makes a click beside the controls of a row open a page. The row also has a link, for the keyboard and for screen
 * readers.
 */
export function useRowLink() {
  const [, navigate] = useLocation();
  return useCallback(
    (href: string | undefined) => {
      if (href === undefined) return undefined;
      return (event: MouseEvent<HTMLElement>) => {
        const target = event.target as Element;
        // A click in a menu or dialog of the row is not inside its element.
        if (!event.currentTarget.contains(target) || target.closest(CONTROLS)) return;
        // The user selected text of the row.
        if (window.getSelection()?.isCollapsed === false) return;
        if (event.ctrlKey || event.metaKey) window.open(href, '_blank', 'noopener');
        else navigate(href);
      };
    },
    [navigate],
  );
}
