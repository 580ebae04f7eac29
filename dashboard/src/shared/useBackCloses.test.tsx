// @vitest-environment happy-dom
import { act, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useBackCloses } from './useBackCloses';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

/** The open dialogs, the one below first. */
let shown: string[];
let show: (names: string[]) => void;
/** Called instead of closing. */
let ask: ((name: string) => void) | undefined;
let root: Root;

function Page() {
  const [names, setNames] = useState<string[]>([]);
  shown = names;
  show = setNames;
  const close = (name: string) => setNames((before) => before.filter((each) => each !== name));
  return names.map((name) => <Dialog key={name} onBack={() => (ask ?? close)(name)} />);
}

function Dialog({ onBack }: { onBack: () => void }) {
  useBackCloses(true, onBack);
  return null;
}

const settled = () =>
  act(async () => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setTimeout(resolve));
  });

async function open(...names: string[]) {
  await act(async () => show(names));
  await settled();
}

async function back() {
  await act(async () => window.history.back());
  await settled();
}

beforeEach(async () => {
  ask = undefined;
  window.history.pushState(null, '', '/before');
  window.history.pushState(null, '', '/page');
  root = createRoot(document.body.appendChild(document.createElement('div')));
  await act(async () => root.render(<Page />));
});

afterEach(async () => {
  await act(async () => root.unmount());
  await settled();
});

it('closes the dialog and stays on the page', async () => {
  await open('form');
  await back();
  expect(shown).toEqual([]);
  expect(window.location.pathname).toBe('/page');
  await back();
  expect(window.location.pathname).toBe('/before');
});

it('closes only the dialog above', async () => {
  await open('form', 'question');
  await back();
  expect(shown).toEqual(['form']);
  await back();
  expect(shown).toEqual([]);
  expect(window.location.pathname).toBe('/page');
});

it('asks again, as often as Back is pressed, while the dialog stays open', async () => {
  const asked: string[] = [];
  ask = (name) => asked.push(name);
  await open('form');
  await back();
  await back();
  expect(asked).toEqual(['form', 'form']);
  expect(shown).toEqual(['form']);
  expect(window.location.pathname).toBe('/page');
});

it('leaves no step of the history when dialogs close on their own', async () => {
  await open('form', 'question');
  await open();
  await back();
  expect(window.location.pathname).toBe('/before');
});

it('keeps the second of two dialogs open that follow each other', async () => {
  await open('form');
  await open('secret');
  expect(shown).toEqual(['secret']);
  await back();
  expect(shown).toEqual([]);
  expect(window.location.pathname).toBe('/page');
});

it('does not take back where a link in the dialog leads', async () => {
  await open('form');
  window.history.pushState(null, '', '/other');
  await open();
  expect(window.location.pathname).toBe('/other');
  await back();
  expect(window.location.pathname).toBe('/page');
  await back();
  expect(window.location.pathname).toBe('/before');
});
