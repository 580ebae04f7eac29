import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { PASSWORD } from '../server/Server';
import { type Account, done, ROOT, signedIn } from './accounts';
import { expect, type Visit, type VisitOptions } from './test';
import { hidden, visible } from './visibility';

export const ANA: Account = { username: 'ana', password: PASSWORD };
export const BEN: Account = { username: 'ben', password: PASSWORD };
const CLEO: Account = { username: 'cleo', password: PASSWORD };

/** A user without keys, for the first steps. */
const NOVA: Account = { username: 'nova', password: PASSWORD };

/** The demo user for whom a page shows most; absent for nobody. */
const USERS = { ana: ANA, cleo: CLEO, nova: NOVA, root: ROOT };

/** IDs of the demo. */
interface Ids {
  key: number;
  ana: number;
}

export interface DemoPage {
  /** Also the name of its screenshots. */
  name: string;
  as?: keyof typeof USERS;
  path: string | ((ids: Ids) => string);
}

/** Every page of the dashboard. */
export const PAGES: DemoPage[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'register', path: '/register' },
  { name: 'overview', as: 'ana', path: '/' },
  { name: 'keys', as: 'ana', path: '/keys' },
  { name: 'deleted-keys', as: 'ana', path: '/keys/deleted' },
  { name: 'key', as: 'ana', path: ({ key }) => `/keys/${key}` },
  { name: 'no-such-key', as: 'ana', path: '/keys/999999' },
  { name: 'usage', as: 'ana', path: '/usage?range=30d' },
  { name: 'requests', as: 'ana', path: '/requests?range=30d' },
  { name: 'prices', as: 'ana', path: '/prices' },
  { name: 'prices-administrator', as: 'root', path: '/prices' },
  { name: 'profile', as: 'ana', path: '/profile' },
  { name: 'reference', as: 'ana', path: '/reference' },
  { name: 'reference-operation', as: 'ana', path: '/reference?operation=create' },
  { name: 'not-found', as: 'ana', path: '/nothing/here' },
  { name: 'not-allowed', as: 'ana', path: '/admin/users' },
  { name: 'overview-first', as: 'nova', path: '/' },
  { name: 'enablement', as: 'cleo', path: '/enablement' },
  { name: 'overview-administrator', as: 'root', path: '/' },
  { name: 'admin-home', as: 'root', path: '/admin' },
  { name: 'admin-users', as: 'root', path: '/admin/users' },
  { name: 'admin-user', as: 'root', path: ({ ana }) => `/admin/users/${ana}` },
  { name: 'admin-no-such-user', as: 'root', path: '/admin/users/999999' },
  { name: 'admin-requests', as: 'root', path: '/admin/requests' },
  { name: 'admin-requests-all', as: 'root', path: '/admin/requests?state=all' },
  { name: 'admin-tokens', as: 'root', path: '/admin/tokens' },
  { name: 'admin-token', as: 'root', path: ({ key }) => `/admin/tokens/${key}` },
  { name: 'admin-no-such-token', as: 'root', path: '/admin/tokens/999999' },
  { name: 'admin-usage', as: 'root', path: '/admin/usage?range=30d' },
  { name: 'admin-usage-requests', as: 'root', path: '/admin/usage/requests' },
  { name: 'admin-gateways', as: 'root', path: '/admin/gateways' },
  { name: 'admin-audit', as: 'root', path: '/admin/audit' },
  { name: 'admin-imports', as: 'root', path: '/admin/imports' },
  { name: 'admin-system', as: 'root', path: '/admin/system' },
  { name: 'admin-settings', as: 'root', path: '/admin/settings' },
];

interface PageFixtures {
  visit: Visit;
  site: string;
}

/** The responses to the pages of a missing key and a missing user. */
const EXPECTED = [/^404 GET \/api\/token\/999999/, /^404 GET \/api\/admin\/(users|tokens)\/999999/];

/** Opens a page of the demo, and waits until it is there with its own address. */
export async function openPage(
  { visit, site }: PageFixtures,
  demoPage: DemoPage,
  options: VisitOptions,
): Promise<Page> {
  const { as } = demoPage;
  const path = await pathIn(site, demoPage);
  const page = await visit({ ...options, as: as && USERS[as], path, expected: EXPECTED });
  await arrived(page, site + path);
  return page;
}

/** Opens another page of the demo for the same user, with the scripts and the session that are there. */
export async function openNextPage(page: Page, site: string, demoPage: DemoPage) {
  const path = await pathIn(site, demoPage);
  await page.goto(path);
  await arrived(page, site + path);
}

/** The path of a page, once the demo has what it shows. */
async function pathIn(site: string, { as, path }: DemoPage): Promise<string> {
  if (as === 'nova') await createNova(site);
  return typeof path === 'string' ? path : path(await idsOf(site));
}

async function arrived(page: Page, url: string) {
  await settled(page);
  expect(page.url()).toBe(url);
}

async function createNova(site: string) {
  const root = await signedIn(site, ROOT);
  const profile = { display_name: 'Nova Lind', token_api_enabled: true, quota: 5_000_000 };
  // Refused if another test has created it.
  await root.POST('/api/admin/users', { body: { ...NOVA, ...profile } });
}

async function idsOf(site: string): Promise<Ids> {
  const api = await signedIn(site, ANA);
  const query = { keyword: 'Production chat' };
  const { items } = await done(api.GET('/api/token/search', { params: { query } }));
  const [key] = items;
  if (!key) throw new Error('ana has no key “Production chat”');
  return { key: key.id, ana: (await done(api.GET('/api/user/self'))).id };
}

/** Opens a page and waits until it has loaded. */
export async function open(page: Page, path: string) {
  await page.goto(path);
  await settled(page);
}

export async function settled(page: Page) {
  await visible(page.getByRole('heading', { level: 1 }));
  await hidden(page.locator('[aria-busy="true"], .mantine-Skeleton-root').first());
}

/** The lines of a CSV file of the export menu of a report. */
export async function exported(page: Page, label: string): Promise<string[]> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: label }).click();
  return (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
}

/** Shows the days of a chart as a table. */
export async function showTable(page: Page) {
  await page.getByRole('main').getByText('Table', { exact: true }).click();
}
