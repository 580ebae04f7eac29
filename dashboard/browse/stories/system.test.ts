import type { Page } from '@playwright/test';
import type { System } from '../../src/api/adminSystem';
import { violations } from '../harness/accessibility';
import { done, ROOT } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const PATH = '**/api/admin/system';
const DAY = 86_400;

/** Answers for the server from now on, with the answer that `change` makes of its own. */
async function answerWith(page: Page, change: (system: System) => void) {
  await page.unroute(PATH);
  await page.route(PATH, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    change(body.data);
    await route.fulfill({ response, json: body });
  });
}

/** Nothing needs attention, and figures as of a server that is used. */
function beWell(system: System) {
  system.backup = { time: system.time - 3600, source: 'keymeter_backup' };
  system.servers = [system.server];
  system.differing_settings = [];
  system.recent.milliseconds = 10_000;
  system.recent.requests = 123;
  system.recent.operations = { charge: 50 };
  system.recent.quota = 5_000_000;
  system.recent.steps = system.recent.steps.map(({ step }, index) => ({ step, mean_us: 1000 * (index + 1) }));
  system.recent.slowest_step = 'flush';
}

test('administrators see what the servers, the database and the jobs do', async ({ visit, root }) => {
  const page = await visit({ as: ROOT });
  await visible(page.getByRole('heading', { level: 1, name: 'Overview' }));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('system');
  await page.getByRole('option', { name: 'System', exact: true }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'System' }));
  const { server, database } = await done(root.GET('/api/admin/system'));
  const row = page.getByRole('table', { name: 'Servers' }).getByRole('row', { name: server.name });
  await visible(
    row.getByText('Answers you now'),
    row.getByText('Running', { exact: true }),
    page.getByText(`What the server ${server.name} did in the last`),
    page.getByText(database.version, { exact: true }),
    page.getByText('Takes writes'),
    page.getByRole('table', { name: 'Invariants' }).getByRole('row', { name: 'L10' }),
    page.getByRole('table', { name: 'Jobs' }).getByRole('row', { name: 'Add up usage' }),
  );
  // The stories share this server, and nobody backs it up.
  await visible(
    page.getByRole('region', { name: 'Needs attention' }).getByText('No backup is known'),
    page.getByText('keymeter backup /backups/keymeter'),
  );
});

test('the page of the system refreshes itself, and says what is wrong and when it cannot', async ({
  visit,
}) => {
  const page = await visit({ as: ROOT, expected: [/^500 GET \/api\/admin\/system/] });
  await answerWith(page, beWell);
  await page.goto('/admin/system');
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const now = page.getByRole('region', { name: 'Now' });
  await visible(
    attention.getByText('Nothing needs attention'),
    now.getByText('12.3/s'),
    now.getByText('$1.00', { exact: true }),
    page.getByRole('table', { name: 'Operations by kind' }).getByRole('row', { name: 'Charge 5/s' }),
    page.getByRole('table', { name: 'Steps of a batch' }).getByRole('row', { name: 'Flush Slowest' }),
  );

  await answerWith(page, (system) => {
    beWell(system);
    const other = { ...system.server, id: 'other', name: 'another-server', version: '0.0.1' };
    const gone = { ...other, id: 'gone', name: 'lost-server', running: false, seen_time: system.time - 300 };
    system.servers = [system.server, other, gone];
    system.differing_settings = [
      {
        name: 'limits.search_per_minute',
        values: [
          { server_id: system.server.id, value: '30' },
          { server_id: other.id, value: '60' },
        ],
      },
    ];
    system.degraded = ['not_durable'];
    system.database.is_writable = false;
    system.database.archiver_fails = true;
    system.database.partitions_ahead_days = 1;
    system.database.default_partition_rows = 12;
    system.database.reservations_overdue_seconds = 600;
    system.proof.invariants = [{ name: 'L3', violations: 2 }];
    system.backup = { time: system.time - 9 * DAY, source: 'keymeter_backup' };
    system.server.started_time = system.time - DAY;
    system.jobs = [{ name: 'add up usage', last_success_time: system.time - 3600 }];
    system.recent.failures = 7;
  });
  await visible(
    attention.getByText('The ledger is inconsistent'),
    attention.getByText('A commit waits for the disk'),
    attention.getByText('The database takes no writes'),
    attention.getByText('A reservation is overdue for 10 min'),
    attention.getByText('PostgreSQL cannot archive its log'),
    attention.getByText('Searches of a user (limits.search_per_minute)'),
    attention.getByText('The servers are of different versions'),
    attention.getByText('The newest known backup is 9 d old'),
    attention.getByText('Partitions of charges exist for 1 day ahead only'),
    attention.getByText('12 charges are in the default partition'),
    attention.getByText('1 job has not succeeded for 10 minutes'),
    page.getByRole('table', { name: 'Servers' }).getByRole('row', { name: 'lost-server' }),
    page.getByText('Not seen for 5 min'),
  );
  for (const width of [320, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
    expect(await violations(page.locator('main'))).toEqual([]);
  }

  await page.unroute(PATH);
  await page.route(PATH, (route) => route.fulfill({ status: 500, json: { success: false, message: '' } }));
  const stale = page.getByText('this page could not be refreshed');
  await visible(stale);
  await answerWith(page, beWell);
  await hidden(stale);
  await visible(attention.getByText('Nothing needs attention'));
});
