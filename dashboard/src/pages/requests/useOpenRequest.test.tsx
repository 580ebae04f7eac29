// @vitest-environment happy-dom
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { navigate } from 'wouter/use-browser-location';
import { useOpenRequest } from './useOpenRequest';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

let root: Root;
let current: ReturnType<typeof useOpenRequest>;

function Page() {
  current = useOpenRequest('own');
  return null;
}

async function visit(path: string) {
  window.history.replaceState(null, '', path);
  root = createRoot(document.body.appendChild(document.createElement('div')));
  await act(() => root.render(<Page />));
}

const back = vi.spyOn(window.history, 'back').mockImplementation(() => {});
beforeEach(() => back.mockClear());
afterEach(() => act(() => root.unmount()));

it('the address of a request keeps the filters', async () => {
  await visit('/requests?outcome=refused&id=c1');
  expect(current.id).toBe('c1');
  expect(current.hrefOf('c2')).toBe('/requests?outcome=refused&id=c2');
});

it('a request that a row opened is closed by going back to the list', async () => {
  await visit('/requests?model=o3');
  expect(current.id).toBeUndefined();
  await act(() => navigate(current.hrefOf('c1')));
  expect(current.id).toBe('c1');
  await act(() => current.close());
  await act(() => current.close());
  expect(back).toHaveBeenCalledOnce();
});

it('a request that a link opened is closed by showing the list in its place', async () => {
  await visit('/requests?model=o3&id=c1');
  const entries = window.history.length;
  await act(() => current.close());
  expect(back).not.toHaveBeenCalled();
  expect(current.id).toBeUndefined();
  expect([window.location.search, window.history.length]).toEqual(['?model=o3', entries]);
});
