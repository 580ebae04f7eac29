import { ActionIcon, Menu } from '@mantine/core';
import {
  IconCheck,
  IconDots,
  IconHistory,
  IconKey,
  IconLock,
  IconPencil,
  IconTrash,
  IconUserOff,
  IconWallet,
} from '@tabler/icons-react';
import { useRef } from 'react';
import { Link } from 'wouter';
import { type User, useUser } from '../../../api/session';
import { listHref } from '../../../shared/listQuery';
import { texts } from '../../../texts';
import { mayEnable, mayLockOut, mayManage } from './permissions';
import { ENABLED } from './status';
import type { UserDialog } from './UserDialogs';
import { useEnableUser } from './useEnableUser';

const words = texts.adminUsers.menu;
const icon = { size: 18, stroke: 1.6 };

export function UserMenu({ user, onOpen }: { user: User; onOpen: (dialog: UserDialog) => void }) {
  const admin = useUser();
  const target = useRef<HTMLButtonElement>(null);
  const isManaged = mayManage(admin, user);

  /** Focuses the menu button first: a closing dialog returns the focus to it, and the menu item no longer exists. */
  function open(dialog: UserDialog) {
    target.current?.focus();
    onOpen(dialog);
  }

  return (
    <Menu position="bottom-end" width={230} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon ref={target} aria-label={words.label(user.username)}>
          <IconDots size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isManaged ? (
          <>
            <Menu.Item leftSection={<IconPencil {...icon} />} onClick={() => open('edit')}>
              {words.edit}
            </Menu.Item>
            <Menu.Item leftSection={<IconWallet {...icon} />} onClick={() => open('wallet')}>
              {words.wallet}
            </Menu.Item>
          </>
        ) : (
          <Menu.Label>{words.notAllowed}</Menu.Label>
        )}
        <Menu.Divider />
        <Menu.Item
          component={Link}
          href={listHref('/admin/tokens', { user_id: user.id })}
          leftSection={<IconKey {...icon} />}
        >
          {words.keys}
        </Menu.Item>
        <Menu.Item
          component={Link}
          href={listHref('/admin/audit', { user_id: user.id })}
          leftSection={<IconHistory {...icon} />}
        >
          {words.audit}
        </Menu.Item>
        {mayLockOut(admin, user) && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<IconLock {...icon} />} onClick={() => open('password')}>
              {words.password}
            </Menu.Item>
            {user.status === ENABLED && (
              <Menu.Item leftSection={<IconUserOff {...icon} />} onClick={() => open('disable')}>
                {words.disable}
              </Menu.Item>
            )}
            {user.status !== ENABLED &&
              (mayEnable(admin, user) ? (
                <EnableItem user={user} />
              ) : (
                <Menu.Label>{words.disabledByRoot}</Menu.Label>
              ))}
            <Menu.Item c="var(--km-bad)" leftSection={<IconTrash {...icon} />} onClick={() => open('delete')}>
              {words.delete}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function EnableItem({ user }: { user: User }) {
  const enable = useEnableUser();
  return (
    <Menu.Item leftSection={<IconCheck {...icon} />} onClick={() => enable(user)}>
      {words.enable}
    </Menu.Item>
  );
}
