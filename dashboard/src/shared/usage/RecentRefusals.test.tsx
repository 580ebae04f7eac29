// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import type { RecentRefusals } from '../../api/overview';
import { AlarmingRow, QuietLine } from './RecentRefusals';
import type { Alarm } from './recentRefusals';

vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);

const container = document.body.appendChild(document.createElement('div'));
const root = createRoot(container);
afterEach(() => act(() => root.render(null)));

const now = Math.floor(Date.now() / 1000);

const refused = (reason: string, requests: number, fields: Partial<RecentRefusals> = {}): RecentRefusals => ({
  token_id: 7,
  token_name: 'Crawler',
  reason,
  requests,
  alarming: true,
  last: now - 600,
  ...fields,
});

async function shown(alarm: Alarm, attention?: string) {
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <AlarmingRow alarm={alarm} scope="own" attention={attention} />
      </MantineProvider>,
    ),
  );
  return { text: container.textContent, href: container.querySelector('a')?.getAttribute('href') };
}

it('says which limit of a key refused, and how much of it was used', async () => {
  const limit = { period: 'week', limit: 2_500_000, used: 2_500_000, resets_at: now + 86_400 };
  const { text, href } = await shown([refused('token_period_exceeded', 3, limit)]);
  expect(text).toContain('Weekly limit of the key reached ($5.00 of $5.00 used · renews ');
  expect(text).toContain('): 3 requests refused in the last hour, the last one ');
  expect(href).toBe('/requests?token_id=7&outcome=refused&reason=token_period_exceeded');
});

it('joins the reasons of a key, their requests and why the key needs attention', async () => {
  const rare = refused('user_quota_insufficient', 1, { last: now });
  const { text, href } = await shown([refused('token_expired', 9), rare], 'Stopped working 1 d ago.');
  expect(text).toMatch(
    /Stopped working 1 d ago\. Key expired, Not enough in the wallet: 10 requests refused .+ just now\./,
  );
  expect(href).toBe('/requests?token_id=7&outcome=refused');
});

it('says of quiet refusals which pass now', async () => {
  const reasons = [
    { reason: 'token_expired', isCured: true },
    { reason: 'rate_limited', isCured: false },
  ];
  await act(() =>
    root.render(
      <MantineProvider env="test">
        <QuietLine quiet={{ requests: 3, reasons }} scope="own" />
      </MantineProvider>,
    ),
  );
  expect(container.textContent).toContain('Key expired (passes now), Rate limit of the key reached.');
});
