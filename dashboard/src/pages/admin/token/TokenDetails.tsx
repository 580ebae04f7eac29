import { Button, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useAnyToken } from '../../../api/adminTokens';
import { useAccount } from '../../../api/adminUsers';
import { ApiError } from '../../../api/error';
import { useUser } from '../../../api/session';
import { DetailsPending } from '../../../shared/DetailsPending';
import { ImportedBadge } from '../../../shared/ImportedBadge';
import { PageHeader } from '../../../shared/PageHeader';
import { StateBadge } from '../../../shared/StateBadge';
import { texts } from '../../../texts';
import { KeyFacts } from '../../key/KeyFacts';
import { LockedAlert } from '../../key/LockedAlert';
import { UsageSection } from '../../key/usage/UsageSection';
import { AuditSection } from '../audit/AuditSection';
import { subjectColumns } from '../audit/auditColumns';
import { UserLink } from '../shared/links';
import { AdminTokenSwitch } from '../tokens/AdminTokenSwitch';
import { mayChangeKeys } from '../users/permissions';
import { OthersKeyActions } from './OthersKeyActions';
import { TokenNotFound } from './TokenNotFound';

const words = texts.adminKey;
const back = { href: '/admin/tokens', label: words.back };

export function TokenDetails({ id }: { id: number }) {
  const admin = useUser();
  const { data: token, error, refetch } = useAnyToken(id);
  const isOwn = token?.user_id === admin.id;
  const { data: owner } = useAccount(isOwn ? undefined : token?.user_id);

  if (error instanceof ApiError && error.status === 404) return <TokenNotFound id={id} />;
  if (!token) {
    return <DetailsPending title={texts.key.title} back={back} error={error} onRetry={refetch} />;
  }
  return (
    <>
      <PageHeader
        title={token.name}
        badge={
          <>
            <StateBadge token={token} />
            <ImportedBadge token={token} />
          </>
        }
        back={back}
        actions={
          <>
            <AdminTokenSwitch label={texts.key.allow} labelPosition="left" token={token} />
            {isOwn && (
              <Button component={Link} href={`/keys/${id}`} variant="default">
                {words.openOwn}
              </Button>
            )}
            {owner && mayChangeKeys(admin, owner) && <OthersKeyActions token={token} owner={owner} />}
          </>
        }
      />
      <Stack gap="xl">
        <LockedAlert token={token} />
        <KeyFacts
          token={token}
          maskedKey={<Text ff="monospace">{token.masked_key}</Text>}
          owner={<UserLink id={token.user_id} name={token.username} inherit />}
        />
        <UsageSection token={token} scope="allUsers" />
        <AuditSection
          words={words.history}
          filter={{ subject_kind: 'token', subject_id: String(id) }}
          columns={subjectColumns}
        />
      </Stack>
    </>
  );
}
