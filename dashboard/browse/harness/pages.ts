import type { Page } from 'playwright-core';
import { PASSWORD } from '../server/Server';
import { type Account, done, ROOT, signedIn } from './accounts';
import { hidden, visible } from './visibility';

export const ANA: Account = { username: 'ana', password: PASSWORD };
export const BEN: Account = { username: 'ben', password: PASSWORD };
const CLEO: Account = { username: 'cleo', password: PASSWORD };

export interface UserPages {
  who: string;
  as?: Account;
  /** Names, also used for files, and paths. */
  pages: [name: string, path: string][];
}

/** A user without keys, for the first steps. */
async function newcomer(site: string): Promise<Account> {
  const account = { username: 'nova', password: PASSWORD };
  const root = await signedIn(site, ROOT);
  const profile = { display_name: 'Nova Lind', token_api_enabled: true, quota: 5_000_000 };
  // Refused if another test has created it.
  await root.POST('/api/admin/users', { body: { ...account, ...profile } });
  return account;
}

/** Every page of the dashboard, with the demo user for whom it shows most. */
export async function allPages(site: string): Promise<UserPages[]> {
  const ana = await signedIn(site, ANA);
  const query = { keyword: 'Production chat' };
  const found = await done(ana.GET('/api/token/search', { params: { query } }));
  const [key] = found.items;
  const owner = await done(ana.GET('/api/user/self'));
  return [
    {
      who: 'nobody',
      pages: [
        ['sign-in', '/sign-in'],
        ['register', '/register'],
      ],
    },
    {
      who: 'ana',
      as: ANA,
      pages: [
        ['overview', '/'],
        ['keys', '/keys'],
        ['key', `/keys/${key?.id}`],
        ['no-such-key', '/keys/999999'],
        ['usage', '/usage?range=30d'],
        ['profile', '/profile'],
        ['reference', '/reference'],
        ['reference-operation', '/reference?operation=create'],
        ['not-found', '/nothing/here'],
        ['not-allowed', '/admin/users'],
      ],
    },
    { who: 'nova', as: await newcomer(site), pages: [['overview-first', '/']] },
    { who: 'cleo', as: CLEO, pages: [['enablement', '/enablement']] },
    {
      who: 'root',
      as: ROOT,
      pages: [
        ['overview-administrator', '/'],
        ['admin-home', '/admin'],
        ['admin-users', '/admin/users'],
        ['admin-user', `/admin/users/${owner.id}`],
        ['admin-no-such-user', '/admin/users/999999'],
        ['admin-requests', '/admin/requests'],
        ['admin-requests-all', '/admin/requests?state=all'],
        ['admin-tokens', '/admin/tokens'],
        ['admin-token', `/admin/tokens/${key?.id}`],
        ['admin-no-such-token', '/admin/tokens/999999'],
        ['admin-usage', '/admin/usage?range=30d'],
        ['admin-gateways', '/admin/gateways'],
        ['admin-audit', '/admin/audit'],
        ['admin-imports', '/admin/imports'],
        ['admin-settings', '/admin/settings'],
      ],
    },
  ];
}

/** The responses to the pages of a missing key and a missing user. */
export const missing = [/^404 GET \/api\/token\/999999/, /^404 GET \/api\/admin\/(users|tokens)\/999999/];

/** Opens a page and waits until it has loaded. */
export async function open(page: Page, path: string) {
  await page.goto(path);
  await settled(page);
}

export async function settled(page: Page) {
  await visible(page.getByRole('heading', { level: 1 }));
  await hidden(page.locator('[aria-busy="true"], .mantine-Skeleton-root').first());
}
