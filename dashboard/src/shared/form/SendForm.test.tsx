// @vitest-environment happy-dom
import { MantineProvider, TextInput } from '@mantine/core';
import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reportResult } from '../../api/connection';
import { ApiError } from '../../api/error';
import { texts } from '../../texts';
import { atField } from './atField';
import { SendForm } from './SendForm';
import { useSendForm } from './useSendForm';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const create = vi.fn<(name: string) => Promise<void>>();
const MISSING = 'Enter a name.';
let root: Root;

beforeEach(async () => {
  document.body.innerHTML = '<div id="root"></div>';
  root = createRoot(document.getElementById('root') as HTMLElement);
  await act(async () =>
    root.render(
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <CreateForm />
        </QueryClientProvider>
      </MantineProvider>,
    ),
  );
});

afterEach(async () => {
  await act(async () => root.unmount());
  create.mockReset();
});

function CreateForm() {
  const mutation = useMutation<void, Error, string>({ mutationFn: (name) => create(name) });
  const { form, ...sending } = useSendForm({
    initialValues: { note: '', name: '' },
    validate: ({ name }, submitted) => ({ name: submitted && name === '' && MISSING }),
    mutation,
    refusals: atField({ invalid_name: 'name' }),
    send: ({ name }) => mutation.mutate(name),
  });
  return (
    <SendForm sending={sending} submitLabel="Create">
      <TextInput label="Note" {...form.getInputProps('note')} />
      <details>
        <TextInput label="Name" {...form.getInputProps('name')} />
      </details>
    </SendForm>
  );
}

const input = () => document.querySelector('[data-path="name"]') as HTMLInputElement;
const error = () => document.querySelector('.mantine-TextInput-error')?.textContent;
const alert = () => document.querySelector('[role="alert"]')?.textContent;

async function type(text: string) {
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input(), text);
    input().dispatchEvent(new Event('input', { bubbles: true }));
  });
}

async function submit() {
  await act(async () => document.querySelector<HTMLButtonElement>('[type="submit"]')?.click());
  await act(async () => vi.waitFor(() => {}));
}

describe('a form', () => {
  it('reports a missing value and focuses it when it is submitted, and from then on at each change', async () => {
    await type('x');
    await type('');
    expect(error()).toBeUndefined();
    await submit();
    expect(error()).toBe(MISSING);
    expect(document.activeElement).toBe(input());
    expect(input().closest('details')?.open, 'it was folded').toBe(true);
    expect(create).not.toHaveBeenCalled();
    await type('x');
    expect(error()).toBeUndefined();
    await type('');
    expect(error()).toBe(MISSING);
  });

  it('sends valid values', async () => {
    await type('edge');
    await submit();
    expect(create.mock.calls).toEqual([['edge']]);
  });

  it('shows a refusal at its field until a change', async () => {
    create.mockRejectedValue(new ApiError(400, 'invalid_name', 'the name is taken'));
    await type('edge');
    await submit();
    await vi.waitFor(() => expect(error()).toBe(texts.errors.invalid_name));
    expect(document.activeElement).toBe(input());
    expect(alert()).toBeUndefined();
    await type('core');
    expect(error()).toBeUndefined();
  });

  it('forgets that the server could not be reached when the outage is over', async () => {
    const outage = new ApiError(0, 'unreachable', 'no answer');
    create.mockRejectedValue(outage);
    await type('edge');
    await submit();
    await act(async () => reportResult(outage));
    await vi.waitFor(() => expect(alert()).toBe('No answer.'));
    await act(async () => reportResult(undefined));
    await vi.waitFor(() => expect(alert()).toBeUndefined());
  });

  it('shows any other failure above the buttons', async () => {
    create.mockRejectedValue(new ApiError(409, 'conflict', 'the gateway is in use'));
    await type('edge');
    await submit();
    await vi.waitFor(() => expect(alert()).toBe('The gateway is in use.'));
    expect(error()).toBeUndefined();
  });
});
