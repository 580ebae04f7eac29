import { type MouseEvent, useCallback } from 'react';
import { useLocation } from 'wouter';

const CONTROLS = 'a, button, input, label, select, textarea, [role="switch"]';
const MIDDLE = 1;

type Click = MouseEvent<HTMLElement>;

/**
 * Makes a click beside the controls of a row open a page, with Ctrl or the middle button in a new tab. The row also has
 * a link, for the keyboard and for screen readers.
 */
export function useRowLink() {
  const [, navigate] = useLocation();
  return useCallback(
    (href: string | undefined) => {
      if (href === undefined) return undefined;
      return {
        onMouseDown: (event: Click) => {
          // Firefox would select the cell, and the middle button would scroll.
          if (opensTab(event) && isBesideControls(event)) event.preventDefault();
        },
        onClick: (event: Click) => {
          if (!isBesideControls(event)) return;
          if (opensTab(event)) openTab(href);
          // The user selected text of the row.
          else if (window.getSelection()?.isCollapsed !== false) navigate(href);
        },
        onAuxClick: (event: Click) => {
          if (event.button === MIDDLE && isBesideControls(event)) openTab(href);
        },
      };
    },
    [navigate],
  );
}

function opensTab({ button, ctrlKey, metaKey }: Click): boolean {
  return button === MIDDLE || ctrlKey || metaKey;
}

/** A click in a menu or dialog of the row is not inside its element. */
function isBesideControls({ target, currentTarget }: Click): boolean {
  return currentTarget.contains(target as Element) && !(target as Element).closest(CONTROLS);
}

function openTab(href: string) {
  window.open(href, '_blank', 'noopener');
}
