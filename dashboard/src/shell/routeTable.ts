import { type ComponentType, lazy } from 'react';
import SignInPage from '../pages/sign-in/SignInPage';

interface RouteEntry {
  path: string;
  page: ComponentType;
}

/** A page inside the app layout, for signed-in users. */
export interface AppRoute extends RouteEntry {
  administrator?: boolean;
  /** Requires access to the token API. */
  needsTokenApi?: boolean;
}

export const publicRoutes: RouteEntry[] = [
  // In the first file, because its visitors have nothing in their cache.
  { path: '/sign-in', page: SignInPage },
  { path: '/register', page: lazy(() => import('../pages/sign-in/RegisterPage')) },
];

export const appRoutes: AppRoute[] = [
  { path: '/', needsTokenApi: true, page: lazy(() => import('../pages/overview/OverviewPage')) },
  { path: '/keys', needsTokenApi: true, page: lazy(() => import('../pages/keys/KeysPage')) },
  { path: '/keys/:id', needsTokenApi: true, page: lazy(() => import('../pages/key/KeyPage')) },
  { path: '/usage', needsTokenApi: true, page: lazy(() => import('../pages/usage/UsagePage')) },
  { path: '/profile', page: lazy(() => import('../pages/profile/ProfilePage')) },
  { path: '/reference', page: lazy(() => import('../pages/reference/ReferencePage')) },
  { path: '/enablement', page: lazy(() => import('../pages/enablement/EnablementPage')) },
  { path: '/admin', administrator: true, page: lazy(() => import('../pages/admin/home/HomePage')) },
  {
    path: '/admin/usage',
    administrator: true,
    page: lazy(() => import('../pages/admin/usage/AllUsagePage')),
  },
  { path: '/admin/users', administrator: true, page: lazy(() => import('../pages/admin/users/UsersPage')) },
  { path: '/admin/users/:id', administrator: true, page: lazy(() => import('../pages/admin/user/UserPage')) },
  {
    path: '/admin/requests',
    administrator: true,
    page: lazy(() => import('../pages/admin/requests/RequestsPage')),
  },
  {
    path: '/admin/tokens',
    administrator: true,
    page: lazy(() => import('../pages/admin/tokens/TokensPage')),
  },
  {
    path: '/admin/tokens/:id',
    administrator: true,
    page: lazy(() => import('../pages/admin/token/TokenPage')),
  },
  {
    path: '/admin/gateways',
    administrator: true,
    page: lazy(() => import('../pages/admin/gateways/GatewaysPage')),
  },
  { path: '/admin/audit', administrator: true, page: lazy(() => import('../pages/admin/audit/AuditPage')) },
];
