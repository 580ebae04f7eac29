import SignInPage from '../pages/sign-in/SignInPage';
import { lazyPage, type Page } from './lazyPage';
import type { PageShape } from './PageSkeleton';

interface RouteEntry {
  path: string;
  page: Page;
}

/** A page inside the app layout, for signed-in users. */
export interface AppRoute extends RouteEntry {
  administrator?: boolean;
  /** Requires access to the token API. */
  needsTokenApi?: boolean;
  /** What is shown while the page is loading. A list by default. */
  shape?: PageShape;
}

export const publicRoutes: RouteEntry[] = [
  // In the first file, because its visitors have nothing in their cache.
  { path: '/sign-in', page: SignInPage },
  { path: '/register', page: lazyPage(() => import('../pages/sign-in/RegisterPage')) },
];

export const appRoutes: AppRoute[] = [
  {
    path: '/',
    needsTokenApi: true,
    shape: 'tiles',
    page: lazyPage(() => import('../pages/overview/OverviewPage')),
  },
  { path: '/keys', needsTokenApi: true, page: lazyPage(() => import('../pages/keys/KeysPage')) },
  {
    path: '/keys/deleted',
    needsTokenApi: true,
    page: lazyPage(() => import('../pages/deleted-keys/DeletedKeysPage')),
  },
  {
    path: '/keys/:id',
    needsTokenApi: true,
    shape: 'details',
    page: lazyPage(() => import('../pages/key/KeyPage')),
  },
  {
    path: '/usage',
    needsTokenApi: true,
    shape: 'report',
    page: lazyPage(() => import('../pages/usage/UsagePage')),
  },
  { path: '/requests', needsTokenApi: true, page: lazyPage(() => import('../pages/requests/RequestsPage')) },
  { path: '/prices', page: lazyPage(() => import('../pages/prices/PricesPage')) },
  { path: '/profile', shape: 'details', page: lazyPage(() => import('../pages/profile/ProfilePage')) },
  { path: '/reference', page: lazyPage(() => import('../pages/reference/ReferencePage')) },
  { path: '/enablement', page: lazyPage(() => import('../pages/enablement/EnablementPage')) },
  {
    path: '/admin',
    administrator: true,
    shape: 'tiles',
    page: lazyPage(() => import('../pages/admin/home/HomePage')),
  },
  {
    path: '/admin/usage',
    administrator: true,
    shape: 'report',
    page: lazyPage(() => import('../pages/admin/usage/AllUsagePage')),
  },
  {
    path: '/admin/usage/requests',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/usage/AllRequestsPage')),
  },
  {
    path: '/admin/users',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/users/UsersPage')),
  },
  {
    path: '/admin/users/:id',
    administrator: true,
    shape: 'details',
    page: lazyPage(() => import('../pages/admin/user/UserPage')),
  },
  {
    path: '/admin/requests',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/requests/RequestsPage')),
  },
  {
    path: '/admin/tokens',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/tokens/TokensPage')),
  },
  {
    path: '/admin/tokens/:id',
    administrator: true,
    shape: 'details',
    page: lazyPage(() => import('../pages/admin/token/TokenPage')),
  },
  {
    path: '/admin/gateways',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/gateways/GatewaysPage')),
  },
  {
    path: '/admin/imports',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/imports/ImportsPage')),
  },
  {
    path: '/admin/audit',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/audit/AuditPage')),
  },
  {
    path: '/admin/system',
    administrator: true,
    shape: 'tiles',
    page: lazyPage(() => import('../pages/admin/system/SystemPage')),
  },
  {
    path: '/admin/settings',
    administrator: true,
    page: lazyPage(() => import('../pages/admin/settings/SettingsPage')),
  },
];
