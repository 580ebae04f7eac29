// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useRowLink } from './useRowLink';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
const open = vi.fn();
vi.stubGlobal('open', open);

function Row() {
  return (
    <div {...useRowLink()('/keys/7')}>
      <span>text</span>
      <button type="button">Edit</button>
    </div>
  );
}

beforeEach(async () => {
  open.mockClear();
  await act(() => {
    window.history.replaceState(null, '', '/keys');
    root.render(<Row />);
  });
});
afterEach(() => vi.restoreAllMocks());

/** Returns false if the browser does not do what it does by default, such as to select. */
function send(selector: string, type: string, init: MouseEventInit = {}): boolean {
  const event = new MouseEvent(type, { bubbles: true, cancelable: true, ...init });
  act(() => {
    container.querySelector(selector)?.dispatchEvent(event);
  });
  return !event.defaultPrevented;
}

function select() {
  vi.spyOn(window, 'getSelection').mockReturnValue({ isCollapsed: false } as Selection);
}

it('opens the page, but not after text was selected', () => {
  expect(send('span', 'mousedown')).toBe(true);
  select();
  send('span', 'click');
  expect(window.location.pathname).toBe('/keys');
  vi.restoreAllMocks();
  send('span', 'click');
  expect(window.location.pathname).toBe('/keys/7');
});

it.each([{ ctrlKey: true }, { metaKey: true }])('opens a new tab with %j, whatever is selected', (keys) => {
  expect(send('span', 'mousedown', keys)).toBe(false);
  select();
  send('span', 'click', keys);
  expect(open).toHaveBeenCalledExactlyOnceWith('/keys/7', '_blank', 'noopener');
  expect(window.location.pathname).toBe('/keys');
});

it('opens a new tab with the middle button only', () => {
  expect(send('span', 'mousedown', { button: 1 })).toBe(false);
  send('span', 'auxclick', { button: 2 });
  expect(open).not.toHaveBeenCalled();
  send('span', 'auxclick', { button: 1 });
  expect(open).toHaveBeenCalledOnce();
});

it('leaves clicks on controls alone', () => {
  expect(send('button', 'mousedown', { ctrlKey: true })).toBe(true);
  send('button', 'click', { ctrlKey: true });
  send('button', 'auxclick', { button: 1 });
  expect(open).not.toHaveBeenCalled();
});
