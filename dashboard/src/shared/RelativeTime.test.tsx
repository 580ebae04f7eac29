// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { When } from './When';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);

async function shown(seconds: number | null | undefined) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <main>
          <When seconds={seconds} />
        </main>
      </MantineProvider>,
    ),
  );
  return container.querySelector('main')?.textContent;
}

it.each([undefined, null, 0, -1])('%s is never', async (seconds) => {
  expect(await shown(seconds)).toBe('never');
});

it.each([
  [9_999_999_999_999, 'after the year 99999999999999999 (after the year 9999)'],
  [2 ** 63, 'after the year 9999after the year 9999'],
  [-(2 ** 63), 'before the year 1before the year 1'],
])('%d is outside of the calendar', async (seconds, text) => {
  expect(await shown(seconds)).toBe(text);
  expect(container.querySelector('time')?.hasAttribute('datetime')).toBe(false);
});

it('another negative time is long ago', async () => {
  expect(await shown(-86_400)).toMatch(/^\d+ years ago(Dec 30|Dec 31), 1969/);
});
