import { Button, Stack } from '@mantine/core';
import { IconWallet } from '@tabler/icons-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAccount } from '../../../api/adminUsers';
import { ApiError } from '../../../api/error';
import { useUser } from '../../../api/session';
import { DetailsPending } from '../../../shared/DetailsPending';
import { PageHeader } from '../../../shared/PageHeader';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { texts } from '../../../texts';
import { AuditSection } from '../audit/AuditSection';
import { actorColumns, targetColumns } from '../audit/auditColumns';
import { TokenLink } from '../shared/links';
import { mayChangeKeys, mayManage } from '../users/permissions';
import { type UserDialog, UserDialogs } from '../users/UserDialogs';
import { UserMenu } from '../users/UserMenu';
import { AccountStatus } from '../users/userColumns';
import { CreateKeyButton } from './CreateKeyButton';
import { UserFacts } from './UserFacts';
import { UserKeys } from './UserKeys';
import { UserNotFound } from './UserNotFound';
import { UserSpend } from './UserSpend';
import { WalletSection } from './WalletSection';

const words = texts.adminUser;
const back = { href: '/admin/users', label: words.back };

export function UserDetails({ id }: { id: number }) {
  const [, navigate] = useLocation();
  const admin = useUser();
  const { data: user, error, refetch } = useAccount(id);
  const [dialog, setDialog] = useState<UserDialog>();

  if (error instanceof ApiError && error.status === 404) return <UserNotFound id={id} />;
  if (!user) {
    return <DetailsPending title={words.title} back={back} error={error} onRetry={refetch} />;
  }
  return (
    <>
      <PageHeader
        title={user.username}
        description={user.display_name === user.username ? undefined : user.display_name}
        badge={<AccountStatus user={user} />}
        back={back}
        actions={
          <>
            {mayChangeKeys(admin, user) && <CreateKeyButton owner={user} />}
            {mayManage(admin, user) && (
              <Button
                variant="default"
                leftSection={<IconWallet size={18} stroke={1.6} />}
                onClick={() => setDialog('wallet')}
              >
                {words.changeWallet}
              </Button>
            )}
            <UserMenu user={user} onOpen={setDialog} />
          </>
        }
      />
      <Stack gap="xl">
        <UserFacts user={user} />
        <UserSpend userId={id} />
        <RefusedRequests
          scope="allUsers"
          userId={id}
          name={({ token_id, token_name }) => <TokenLink id={token_id} name={token_name} />}
        />
        <UserKeys userId={id} />
        <WalletSection userId={id} />
        <AuditSection words={words.changes} filter={{ user_id: String(id) }} columns={targetColumns} />
        <AuditSection words={words.activity} filter={{ actor_id: String(id) }} columns={actorColumns} />
      </Stack>
      <UserDialogs
        dialog={dialog}
        user={user}
        onDeleted={() => navigate('/admin/users')}
        onClose={() => setDialog(undefined)}
      />
    </>
  );
}
