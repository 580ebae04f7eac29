import { Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useReadAnyToken } from '../../../api/adminTokens';
import { useReadAccount } from '../../../api/adminUsers';
import type { Remedy } from '../../../api/outlook';
import { type User, useUser } from '../../../api/session';
import { type Token, useReadToken } from '../../../api/tokens';
import { notifyFailure } from '../../../shared/notify';
import { useRowDialog } from '../../../shared/useRowDialog';
import { useSwitchAnyKey } from '../../admin/tokens/useSwitchAnyKey';
import type { UserDialog } from '../../admin/users/UserDialogs';
import { useEnableUser } from '../../admin/users/useEnableUser';
import { addPriceHref } from '../../prices/addPriceHref';
import { useSwitchKeys } from '../actions/useSwitchKeys';
import type { Fix } from '../form/fix';
import { RemedyButton, RemedyLink } from './RemedyButton';
import { type Opens, offerOf, type RefusingKey } from './remedies';

// With the button, because pages that most people only look at have the buttons.
const loadKeyForm = () => import('../form/KeyFormDrawer');
const loadUserDialogs = () => import('../../admin/users/UserDialogs');

interface Account extends Awaited<ReturnType<typeof loadUserDialogs>> {
  user: User;
  startsAt?: string;
}

/** Buttons that end refusals, and the forms that they open. Who may not end one sees who can. */
export function useRemedies() {
  const self = useUser();
  const readToken = useReadToken();
  const readAnyToken = useReadAnyToken();
  const readAccount = useReadAccount();
  const own = useSwitchKeys();
  const any = useSwitchAnyKey();
  const enableUser = useEnableUser();
  const [drawer, setDrawer] = useState<Awaited<ReturnType<typeof loadKeyForm>>>();
  const [editing, setEditing] = useState<{ token: Token; owner: User | undefined; fix: Fix }>();
  const [opened, setOpened] = useState(false);
  const { dialog, row: account, open, close } = useRowDialog<UserDialog, Account>();

  async function edit({ id, owner }: RefusingKey, { field, value }: Remedy) {
    const isOwn = owner.id === self.id;
    const [token, other, loaded] = await Promise.all([
      isOwn ? readToken(id) : readAnyToken(id),
      isOwn ? undefined : readAccount(owner.id),
      loadKeyForm(),
    ]);
    setDrawer(loaded);
    setEditing({ token, owner: other, fix: { path: field ?? '', add: value ?? undefined } });
    setOpened(true);
  }

  async function editAccount(name: UserDialog, id: number, { field }: Remedy) {
    const [user, loaded] = await Promise.all([readAccount(id), loadUserDialogs()]);
    open(name, { ...loaded, user, startsAt: field ?? undefined });
  }

  async function start(opens: Exclude<Opens, 'prices'>, remedy: Remedy, key: RefusingKey) {
    const { id, owner } = key;
    switch (opens) {
      case 'key switch':
        if (owner.id === self.id) return own.enableAgain([await readToken(id)]);
        return any.enableAgain(await readAnyToken(id));
      case 'key form':
        return edit(key, remedy);
      case 'account switch':
        return enableUser(await readAccount(owner.id));
      case 'account form':
        return editAccount('edit', owner.id, remedy);
      case 'wallet':
        return editAccount('wallet', owner.id, remedy);
    }
  }

  function show(remedy: Remedy | null | undefined, key: RefusingKey | undefined): ReactNode {
    if (!remedy || !key) return undefined;
    const offer = offerOf(remedy);
    if (!offer) return undefined;
    if ('sentence' in offer) {
      return (
        <Text size="sm" c="dimmed" maw={220}>
          {offer.sentence}
        </Text>
      );
    }
    const { opens, label } = offer;
    if (opens === 'prices') {
      return <RemedyLink label={label} name={remedy.value ?? key.name} href={addPriceHref(remedy.value)} />;
    }
    const name = opens === 'key switch' || opens === 'key form' ? key.name : key.owner.name;
    return (
      <RemedyButton
        label={label}
        name={name}
        onClick={() => start(opens, remedy, key).catch(notifyFailure)}
      />
    );
  }

  const forms = (
    <>
      {drawer && (
        <drawer.KeyFormDrawer
          opened={opened}
          token={editing?.token}
          owner={editing?.owner}
          fix={editing?.fix}
          onClose={() => setOpened(false)}
        />
      )}
      {account && (
        <account.UserDialogs
          key={account.user.id}
          dialog={dialog}
          user={account.user}
          startsAt={account.startsAt}
          onClose={close}
        />
      )}
    </>
  );
  /** The form of a remedy is open. */
  const isFormOpen = opened || dialog !== undefined;
  return { show, forms, isFormOpen };
}
