// @vitest-environment happy-dom
import { MantineProvider, TextInput } from '@mantine/core';
import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { texts } from '../../texts';
import { FormModal } from './FormModal';
import { SendForm } from './SendForm';
import { useSendForm } from './useSendForm';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const { title, keep, discard } = texts.common.discard;
let root: Root;

beforeEach(async () => {
  document.body.innerHTML = '<div id="root"></div>';
  root = createRoot(document.getElementById('root') as HTMLElement);
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <Page />
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
  await click('Open');
});

afterEach(async () => {
  await act(async () => root.unmount());
});

function Page() {
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  return (
    <>
      <button type="button" onClick={() => setOpened(true)}>
        Open
      </button>
      <FormModal opened={opened} onClose={close} title="New user">
        <Form onDone={close} />
      </FormModal>
    </>
  );
}

function Form({ onDone }: { onDone: () => void }) {
  const mutation = useMutation<void, Error, void>({ mutationFn: async () => {} });
  const { form, ...sending } = useSendForm({
    initialValues: { name: '' },
    mutation,
    send: () => mutation.mutate(undefined, { onSuccess: onDone }),
  });
  return (
    <SendForm sending={sending} submitLabel="Create" onCancel={onDone}>
      <TextInput label="Name" {...form.getInputProps('name')} />
    </SendForm>
  );
}

const input = () => document.querySelector<HTMLInputElement>('[data-path="name"]');
const isAsking = () => document.body.textContent?.includes(title) ?? false;

async function type(text: string) {
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input(), text);
    input()?.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

async function click(label: string) {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === label);
  if (!button) throw new Error(`no button “${label}”`);
  await act(async () => button.click());
}

const pressEscape = () =>
  act(async () => {
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  });

const afterTheEvent = () =>
  act(async () => {
    await new Promise((resolve) => setTimeout(resolve));
  });

describe('a dialog with a form', () => {
  it.each([
    ['Cancel', () => click(texts.common.cancel)],
    ['Esc', pressEscape],
  ])('closes at once with %s if nothing was typed', async (_, close) => {
    await type('x');
    await type('');
    await close();
    expect(isAsking()).toBe(false);
    expect(input()).toBeNull();
  });

  it.each([
    ['Cancel', () => click(texts.common.cancel)],
    ['Esc', pressEscape],
  ])('asks with %s if something was typed', async (_, close) => {
    await type('edge');
    await close();
    await afterTheEvent();
    expect(isAsking()).toBe(true);
    await click(keep);
    expect(isAsking()).toBe(false);
    expect(input()?.value).toBe('edge');
    await close();
    await afterTheEvent();
    expect(isAsking()).toBe(true);
    await click(discard);
    expect(isAsking()).toBe(false);
    expect(input()).toBeNull();
  });

  it('only closes the question with Esc', async () => {
    await type('edge');
    await pressEscape();
    await afterTheEvent();
    expect(isAsking()).toBe(true);
    await pressEscape();
    expect(isAsking()).toBe(false);
    expect(input()?.value).toBe('edge');
  });

  it('does not ask after it was sent, nor when it is opened again', async () => {
    await type('edge');
    await click('Create');
    await vi.waitFor(() => expect(input()).toBeNull());
    expect(isAsking()).toBe(false);
    await click('Open');
    await click(texts.common.cancel);
    expect(isAsking()).toBe(false);
    expect(input()).toBeNull();
  });
});
