import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useDeleteAnyToken, useRotateAnyToken } from '../../../api/adminTokenChanges';
import type { OwnedToken } from '../../../api/adminTokens';
import type { User } from '../../../api/session';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { GraceDialog } from '../../keys/actions/GraceDialog';
import { KeyFormDrawer } from '../../keys/form/KeyFormDrawer';

const words = texts.adminKey;
const icon = { size: 18, stroke: 1.6 };

type Dialog = 'edit' | 'replace' | 'delete';

/** What administrators do to the key of somebody else. */
export function OthersKeyActions({ token, owner }: { token: OwnedToken; owner: User }) {
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<Dialog>();
  const menuButton = useRef<HTMLButtonElement>(null);
  const close = () => setDialog(undefined);
  const { username } = owner;

  /** Focuses the menu button first: a closing dialog returns the focus to it, and the menu item no longer exists. */
  function open(name: Dialog) {
    menuButton.current?.focus();
    setDialog(name);
  }

  return (
    <>
      <Button variant="default" leftSection={<IconPencil {...icon} />} onClick={() => setDialog('edit')}>
        {texts.keys.menu.edit}
      </Button>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <ActionIcon
            ref={menuButton}
            aria-label={texts.keys.menu.label(token.name)}
            variant="default"
            size={36}
          >
            <IconDots size={20} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconRefresh {...icon} />} onClick={() => open('replace')}>
            {texts.keys.menu.replaceKey}
          </Menu.Item>
          <Menu.Item c="var(--km-bad)" leftSection={<IconTrash {...icon} />} onClick={() => open('delete')}>
            {texts.keys.menu.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <KeyFormDrawer opened={dialog === 'edit'} token={token} owner={owner} onClose={close} />
      <GraceDialog
        of={dialog === 'replace' ? token : undefined}
        title={({ name }) => texts.keys.replace.title(name)}
        explanation={words.replace.explanation(username)}
        mutation={useRotateAnyToken()}
        onReplaced={() => notifySuccess(words.replace.done(token.name, username))}
        onClose={close}
      />
      <ConfirmDialog
        opened={dialog === 'delete'}
        title={words.delete.title(token.name)}
        actionLabel={texts.keys.delete.confirm(1)}
        mutation={useDeleteAnyToken()}
        variables={token}
        successMessage={() => words.delete.done(token.name)}
        onSuccess={() => navigate('/admin/tokens')}
        onClose={close}
      >
        {words.delete.warning(username)}
      </ConfirmDialog>
    </>
  );
}
