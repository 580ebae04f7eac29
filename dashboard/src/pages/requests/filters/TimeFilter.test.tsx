// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FilterChip } from './FilterChip';
import type { Span } from './span';
import { TimeFilter } from './TimeFilter';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const root = createRoot(document.body.appendChild(document.createElement('div')));
const onChange = vi.fn();
const NOW = 1_795_874_520;
vi.spyOn(Date, 'now').mockReturnValue(NOW * 1000);
beforeEach(() => onChange.mockReset());
afterEach(() => act(() => root.render(null)));

const buttonNamed = (name: string) =>
  [...document.querySelectorAll('button')].find(
    (button) => button.textContent === name || button.getAttribute('aria-label') === name,
  );
const press = (name: string) => act(async () => buttonNamed(name)?.click());

async function show(span: Span) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <TimeFilter today="2026-11-28" timeZone="UTC" span={span} onChange={onChange} />
      </MantineProvider>,
    ),
  );
}

const days: Span = { choice: '7d', start: '2026-11-22', end: '2026-11-28' };

it('a choice changes the time and closes the choices', async () => {
  await show(days);
  await press('Time: Last 7 days');
  expect(buttonNamed('Last 7 days')?.getAttribute('aria-pressed')).toBe('true');
  await press('All time');
  expect(onChange.mock.calls).toEqual([[{ choice: 'all' }]]);
  expect(buttonNamed('All time')).toBeUndefined();
});

it('the last hour begins an hour ago', async () => {
  await show({ choice: 'all' });
  await press('Time: All time');
  await press('Last hour');
  const [[{ start, end }]] = onChange.mock.calls as [[Span]];
  expect(Number(start)).toBe(NOW - 3600);
  expect(end).toBeUndefined();
});

it('hours and minutes begin with the present time', async () => {
  await show({ choice: 'custom', start: '1795874520', end: '1795874579' });
  await act(async () => document.querySelector('button')?.click());
  await press('Apply');
  expect(onChange.mock.calls).toEqual([[{ choice: 'custom', start: '1795874520', end: '1795874579' }]]);
});

it('a chip without a value has only its name, and one with a value can be removed', async () => {
  const onClear = vi.fn();
  const chip = (value: string) =>
    act(() =>
      root.render(
        <MantineProvider env="test">
          <FilterChip name="Key" value={value} onClear={onClear}>
            {() => null}
          </FilterChip>
        </MantineProvider>,
      ),
    );
  await chip('');
  expect([...document.querySelectorAll('button')].map(({ textContent }) => textContent)).toEqual(['Key']);
  await chip('Crawler');
  expect(buttonNamed('Key: Crawler')).toBeDefined();
  await press('Remove the filter: Key');
  expect(onClear).toHaveBeenCalledOnce();
});
