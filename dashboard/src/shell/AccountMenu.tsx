import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconKeyboard, IconLogout, IconUser } from '@tabler/icons-react';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useSignOut, useUser } from '../api/session';
import { initialsOf } from '../format/initials';
import { roleName } from '../format/role';
import { notifyFailure } from '../shared/notify';
import { texts } from '../texts';
import classes from './AccountMenu.module.css';
import { LanguageItems } from './LanguageMenu';

export function AccountMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const user = useUser();
  const signOut = useSignOut();
  const target = useRef<HTMLButtonElement>(null);

  /** Focuses the menu button first: the closing dialog returns the focus to it. */
  function showShortcuts() {
    target.current?.focus();
    onShortcuts();
  }

  const name = user.display_name || user.username;
  return (
    <Menu position="bottom-end" width={220} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <UnstyledButton ref={target} className={classes.button}>
          <Avatar color="petrol" variant="filled" size={34} aria-hidden>
            {initialsOf(name)}
          </Avatar>
          <VisuallyHidden>{texts.shell.account(name)}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <Text fw={600} truncate>
            {name}
          </Text>
          <Text size="sm" c="dimmed" truncate>
            {user.username} · {roleName(user.role)}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Label>{texts.shell.language.label}</Menu.Label>
        <LanguageItems />
        <Menu.Divider />
        <Menu.Item component={Link} href="/profile" leftSection={<IconUser size={18} stroke={1.6} />}>
          {texts.shell.profile}
        </Menu.Item>
        <Menu.Item
          visibleFrom="sm"
          leftSection={<IconKeyboard size={18} stroke={1.6} />}
          onClick={showShortcuts}
        >
          {texts.commands.shortcuts.title}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={18} stroke={1.6} />}
          onClick={() => signOut.mutate(undefined, { onError: notifyFailure })}
        >
          {texts.shell.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
