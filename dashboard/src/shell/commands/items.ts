import type { MantineColorScheme } from '@mantine/core';
import {
  IconDeviceDesktop,
  IconKey,
  IconKeyboard,
  IconMoon,
  IconPlus,
  IconReceipt,
  IconSun,
  IconUser,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { OwnedToken } from '../../api/adminTokens';
import type { PastRequest } from '../../api/requestHistory';
import { isAdministrator, type User } from '../../api/session';
import type { Token } from '../../api/tokens';
import type { UsageScope } from '../../api/usageReports';
import { formatMinute } from '../../format/time';
import { requestsHref } from '../../shared/usage/requestFilters';
import { texts } from '../../texts';
import {
  administratorNavigation,
  rareAdministratorPages,
  rareUserPages,
  userNavigation,
} from '../navigation';

const words = texts.commands;

/** An entry of the palette. */
export interface Item {
  id: string;
  label: string;
  /** Small text behind the label. */
  hint?: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
  /** The path that it opens, or the command that it runs. */
  target: { path: string } | { command: 'help' } | { colorScheme: MantineColorScheme };
}

export interface Group {
  label: string;
  items: Item[];
}

const looks = Object.entries({ light: IconSun, dark: IconMoon, auto: IconDeviceDesktop }).map(
  ([name, icon]): Item => {
    const colorScheme = name as MantineColorScheme;
    return { id: `look-${name}`, label: words.looks[colorScheme], icon, target: { colorScheme } };
  },
);

/** The pages and actions of this user, by their names. */
export function pagesAndActions(user: Pick<User, 'role' | 'token_api_enabled'>, query: string): Group[] {
  const own = [...userNavigation, ...rareUserPages];
  const entries = isAdministrator(user)
    ? [...own, ...administratorNavigation, ...rareAdministratorPages]
    : own;
  const pages = entries.map(
    ({ href, label, icon }): Item => ({ id: href, label, icon, target: { path: href } }),
  );
  const create: Item = {
    id: 'create',
    label: texts.keys.create,
    icon: IconPlus,
    target: { path: '/keys?create' },
  };
  const help: Item = {
    id: 'help',
    label: words.shortcuts.title,
    icon: IconKeyboard,
    target: { command: 'help' },
  };
  const actions = [...(user.token_api_enabled ? [create] : []), ...looks, help];
  return [
    { label: words.pages, items: named(pages, query) },
    { label: words.actions, items: named(actions, query) },
  ];
}

/** Items with every word of the query in their name or hint, those that begin with the query first. */
export function named(items: Item[], query: string): Item[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const begins = ({ label }: Item) => Number(label.toLowerCase().startsWith(parts[0] ?? ''));
  return items
    .filter(({ label, hint = '' }) => parts.every((part) => `${label} ${hint}`.toLowerCase().includes(part)))
    .sort((one, other) => begins(other) - begins(one));
}

export function keyItem({ id, name, masked_key }: Token): Item {
  return { id: `key-${id}`, label: name, hint: masked_key, icon: IconKey, target: { path: `/keys/${id}` } };
}

/** A key of any user. */
export function ownedKeyItem({ id, name, username, masked_key }: OwnedToken): Item {
  const path = `/admin/tokens/${id}`;
  return {
    id: `owned-key-${id}`,
    label: name,
    hint: `${username} · ${masked_key}`,
    icon: IconKey,
    target: { path },
  };
}

export function userItem({ id, username, display_name }: User): Item {
  const path = `/admin/users/${id}`;
  return { id: `user-${id}`, label: username, hint: display_name, icon: IconUser, target: { path } };
}

/** A request that was found by its ID. */
export function requestItem(
  { id, request_id, model, at }: PastRequest,
  scope: UsageScope,
  now: number,
): Item {
  return {
    id: `request-${id}`,
    label: request_id ?? id,
    hint: [model, formatMinute(at, now)].filter(Boolean).join(' · '),
    icon: IconReceipt,
    target: { path: requestsHref(scope, { id }) },
  };
}

/** The search for a request on its page, which also says where it was searched for. */
export function requestSearchItem(requestId: string, scope: UsageScope): Item {
  return {
    id: 'request-search',
    label: words.findRequest(requestId),
    icon: IconReceipt,
    target: { path: requestsHref(scope, { request_id: requestId }) },
  };
}

/** The index after a key press. The list is a ring. */
export function moved(index: number, count: number, key: string): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case 'ArrowDown':
      return (index + 1) % count;
    case 'ArrowUp':
      return (index - 1 + count) % count;
    default:
      return undefined;
  }
}
