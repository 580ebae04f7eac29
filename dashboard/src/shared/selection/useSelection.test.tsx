// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Matching, type Selection, useSelection } from './useSelection';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

interface Row {
  id: number;
}

const first = [{ id: 1 }, { id: 2 }];
const second = [{ id: 3 }, { id: 4 }];
const matching = { key: '{"state":"usable"}', total: 4_999 };
let root: Root;
let selection: Selection<Row>;

beforeEach(() => {
  root = createRoot(document.createElement('div'));
});

afterEach(async () => {
  await act(async () => root.unmount());
});

function List({ shown, all }: { shown: Row[]; all?: Matching }) {
  selection = useSelection(shown, all);
  return null;
}

const show = (shown: Row[], all?: Matching) => act(async () => root.render(<List shown={shown} all={all} />));
const ids = () => selection.rows.map(({ id }) => id);

async function selectAll() {
  await show(first, matching);
  await act(async () => selection.toggleAll());
  await act(async () => selection.selectMatching());
}

it('offers all that match when all of the page are selected, and the list has more', async () => {
  await show(first, matching);
  expect(selection.offered).toBeUndefined();
  await act(async () => selection.toggleAll());
  expect([selection.count, selection.offered]).toEqual([2, 4_999]);
  await show(first, { ...matching, total: 2 });
  expect(selection.offered).toBeUndefined();
  await show(first);
  expect(selection.offered).toBeUndefined();
});

it('offers nothing while the list shows what other filters match', async () => {
  await show(first, { ...matching, total: 30 });
  await act(async () => selection.toggleAll());
  await show(first, { key: '{}', total: 30, isOutdated: true });
  expect([selection.count, selection.offered]).toEqual([2, undefined]);
  await show(first, { key: '{}', total: 9_000 });
  expect([selection.count, selection.offered]).toEqual([2, 9_000]);
});

it('keeps its count until the list shows what its filters match', async () => {
  await selectAll();
  await show(second, { ...matching, total: 30, isOutdated: true });
  expect([selection.count, selection.allMatching]).toEqual([4_999, true]);
  await show(second, { ...matching, total: 5_000 });
  expect([selection.count, selection.allMatching]).toEqual([5_000, true]);
});

it('selects all that match, on each page', async () => {
  await selectAll();
  await show(second, matching);
  expect([selection.count, selection.allMatching, selection.all, selection.offered]).toEqual([
    4_999,
    true,
    true,
    undefined,
  ]);
  expect(second.every((row) => selection.has(row))).toBe(true);
});

it('ends with other filters, for good', async () => {
  await selectAll();
  await show(second, { key: '{}', total: 9_000 });
  expect([selection.count, selection.allMatching]).toEqual([0, false]);
  await show(first, matching);
  expect([selection.count, selection.allMatching]).toEqual([0, false]);
});

it('ends with a click on a row, which leaves the others of the page', async () => {
  await selectAll();
  await show(second, matching);
  await act(async () => selection.toggle(second[0] as Row, false));
  expect([ids(), selection.allMatching]).toEqual([[4], false]);
});

it('ends with the selection', async () => {
  await selectAll();
  await act(async () => selection.toggleAll());
  expect([selection.count, selection.allMatching]).toEqual([0, false]);
  await selectAll();
  await act(async () => selection.clear());
  expect([selection.count, selection.allMatching]).toEqual([0, false]);
});
