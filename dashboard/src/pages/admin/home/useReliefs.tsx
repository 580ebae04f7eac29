import type { ReactNode } from 'react';
import { useReadAnyToken } from '../../../api/adminTokens';
import { useReadAccount } from '../../../api/adminUsers';
import type { RecentRefusals } from '../../../api/overview';
import { type User, useUser } from '../../../api/session';
import { lockedBy } from '../../../api/tokenSwitch';
import { stoppingPeriod } from '../../../shared/limits/periodBar';
import { notifyFailure } from '../../../shared/notify';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { FixButton } from '../../keys/fixes/FixButton';
import { PriceFix } from '../../keys/fixes/PriceFix';
import { useFixes } from '../../keys/fixes/useFixes';
import { useSwitchAnyKey } from '../tokens/useSwitchAnyKey';
import { mayEnable, mayLockOut, mayManage } from '../users/permissions';
import { type UserDialog, UserDialogs } from '../users/UserDialogs';
import { useEnableUser } from '../users/useEnableUser';

const words = texts.usage.fixes;
const { notAllowed, disabledByRoot } = texts.adminUsers.menu;

/** Buttons that end refusals, as far as an administrator can, and the forms that they open. */
export function useReliefs() {
  const admin = useUser();
  const own = useFixes();
  const readToken = useReadAnyToken();
  const readAccount = useReadAccount();
  const { enableAgain } = useSwitchAnyKey();
  const enableUser = useEnableUser();
  const { dialog, row, open, close } = useRowDialog<UserDialog, { user: User; startsAt?: string }>();

  async function enableKey(id: number) {
    const token = await readToken(id);
    const who = lockedBy(admin, token);
    if (who) throw new Error(texts.key.locked[who]);
    enableAgain(token);
  }

  async function enableOwner(id: number) {
    const user = await readAccount(id);
    if (!mayLockOut(admin, user)) throw new Error(notAllowed);
    if (!mayEnable(admin, user)) throw new Error(disabledByRoot);
    enableUser(user);
  }

  async function openDialog(name: UserDialog, id: number) {
    const user = await readAccount(id);
    if (!mayManage(admin, user)) throw new Error(notAllowed);
    const period = stoppingPeriod(user.period_usage) ?? 'day';
    open(name, { user, startsAt: name === 'edit' ? `period_limits.${period}` : undefined });
  }

  function button(label: string, name: string, start: () => Promise<void>) {
    return <FixButton label={label} name={name} onClick={() => start().catch(notifyFailure)} />;
  }

  const topUp = ({ id, username }: Pick<User, 'id' | 'username'>) =>
    button(words.topUp, username, () => openDialog('wallet', id));

  /** Of a refusal. An administrator changes the settings of own keys only. */
  function relief({ token_id, token_name, user_id, username, reason }: RecentRefusals): ReactNode {
    if (token_id == null || user_id == null) return undefined;
    const key = { id: token_id, name: token_name ?? '' };
    const owner = username ?? '';
    const ofOwner = user_id === admin.id ? own.fix(key, { reason }) : undefined;
    if (ofOwner) return ofOwner;
    switch (reason) {
      case 'token_disabled':
        return button(words.enable, key.name, () => enableKey(token_id));
      case 'model_not_priced':
        return <PriceFix />;
      case 'user_disabled':
        return button(words.enableAccount, owner, () => enableOwner(user_id));
      case 'user_quota_insufficient':
        return topUp({ id: user_id, username: owner });
      case 'user_period_exceeded':
        return button(words.raise, owner, () => openDialog('edit', user_id));
      default:
        return undefined;
    }
  }

  const forms = (
    <>
      {own.form}
      {row && <UserDialogs key={row.user.id} dialog={dialog} {...row} onClose={close} />}
    </>
  );
  return { relief, topUp, forms };
}
