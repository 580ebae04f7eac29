import {
  IconActivityHeartbeat,
  IconApi,
  IconChartAreaLine,
  IconChartBar,
  IconDatabaseImport,
  IconHistory,
  IconInbox,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconListSearch,
  IconReceipt,
  IconServer2,
  IconSettings,
  IconShieldCog,
  IconTag,
  IconTrash,
  IconUser,
  IconUsers,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { texts } from '../texts';
import { PendingRequestsBadge } from './PendingRequestsBadge';

export interface NavigationEntry {
  href: string;
  label: string;
  /** Pages below the path belong to other entries. */
  exact?: boolean;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  /** Shown at the end of the entry. */
  badge?: ComponentType;
}

export const userNavigation: NavigationEntry[] = [
  { href: '/', exact: true, label: texts.overview.title, icon: IconLayoutDashboard },
  { href: '/keys', label: texts.keys.title, icon: IconKey },
  { href: '/usage', label: texts.usage.title, icon: IconChartBar },
  { href: '/requests', label: texts.usage.requestHistory.title, icon: IconReceipt },
  { href: '/prices', label: texts.prices.title, icon: IconTag },
  { href: '/profile', label: texts.profile.title, icon: IconUser },
  { href: '/reference', label: texts.reference.title, icon: IconApi },
];

/** Pages that few need often. Other pages link to them, and the palette finds them. */
export const rareUserPages: NavigationEntry[] = [
  { href: '/keys/deleted', label: texts.deletedKeys.title, icon: IconTrash },
];

export const administratorNavigation: NavigationEntry[] = [
  { href: '/admin', exact: true, label: texts.adminHome.title, icon: IconShieldCog },
  { href: '/admin/users', label: texts.adminUsers.title, icon: IconUsers },
  { href: '/admin/requests', label: texts.adminRequests.title, icon: IconInbox, badge: PendingRequestsBadge },
  { href: '/admin/tokens', label: texts.adminTokens.title, icon: IconListSearch },
  { href: '/admin/usage', exact: true, label: texts.adminUsage.title, icon: IconChartAreaLine },
  { href: '/admin/usage/requests', label: texts.adminUsage.requests, icon: IconListDetails },
  { href: '/admin/gateways', label: texts.adminGateways.title, icon: IconServer2 },
  { href: '/admin/audit', label: texts.adminAudit.title, icon: IconHistory },
  { href: '/admin/system', label: texts.adminSystem.title, icon: IconActivityHeartbeat },
  { href: '/admin/settings', label: texts.adminSettings.title, icon: IconSettings },
];

/** The same for administrators. */
export const rareAdministratorPages: NavigationEntry[] = [
  { href: '/admin/imports', label: texts.adminImports.title, icon: IconDatabaseImport },
];
