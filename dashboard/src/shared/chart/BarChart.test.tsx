// @vitest-environment happy-dom
import { act, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BarChart } from './BarChart';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

const onOpen = vi.fn();
const bars = ['2026-11-27', '2026-11-28'].map((date) => ({ date, parts: [{ units: 1, color: 'red' }] }));

function Chart() {
  const [pointed, setPointed] = useState<number>();
  return <BarChart bars={bars} label="Spend" pointed={pointed} onPoint={setPointed} onOpen={onOpen} />;
}

beforeEach(async () => {
  onOpen.mockClear();
  const box = { left: 0, width: 100 } as DOMRect;
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(box);
  await act(() => root.render(<Chart />));
});

/** Sends an event to the plot, at a place from 0 to 100 between its left and its right edge. */
async function send(
  type: 'move' | 'down' | 'up',
  clientX: number,
  { button = 0, pointerType = 'mouse' } = {},
) {
  const plot = container.querySelector('[data-opens]');
  const event = new PointerEvent(`pointer${type}`, { clientX, button, pointerType, bubbles: true });
  await act(() => plot?.dispatchEvent(event));
}

it('opens the bar below a mouse at once, even before it is rendered as pointed at', async () => {
  await send('down', 80);
  await send('up', 80);
  expect(onOpen.mock.calls).toEqual([[1]]);
});

it('opens nothing with another button, nor when the pointer moves to another bar before it is released', async () => {
  await send('move', 80);
  await send('down', 80, { button: 2 });
  await send('up', 80, { button: 2 });
  await send('down', 80);
  await send('move', 20);
  await send('up', 20);
  expect(onOpen).not.toHaveBeenCalled();
});

it('shows the figures of a bar to a finger first, and opens it with the next tap', async () => {
  const finger = { pointerType: 'touch' };
  await send('down', 20, finger);
  await send('up', 20, finger);
  expect(onOpen).not.toHaveBeenCalled();
  await send('down', 20, finger);
  await send('up', 20, finger);
  expect(onOpen.mock.calls).toEqual([[0]]);
});
