// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { useAllUsersOverview } from '../../../api/adminOverview';
import { KeysBlock } from './AttentionBlocks';

vi.mock('../../../api/adminOverview');
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

async function textWith(truncated: boolean) {
  const data = {
    states: { working: 10_000 },
    refused_last_hour: [],
    charged_by_hold_last_hour: [],
    truncated,
  };
  vi.mocked(useAllUsersOverview, { partial: true }).mockReturnValue({ data, error: null });
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <KeysBlock />
      </MantineProvider>,
    ),
  );
  return container.textContent;
}

it('says that only the newest keys are counted if there are more', async () => {
  expect(await textWith(true)).toContain('Of the newest 10,000 keys.');
});

it('says nothing of the kind if all keys are counted', async () => {
  const text = await textWith(false);
  expect(text).toContain('Enabled');
  expect(text).not.toContain('newest');
});
