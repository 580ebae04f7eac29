import { Stack, Text } from '@mantine/core';
import { useAnyToken } from '../../../api/adminTokens';
import { ApiError } from '../../../api/error';
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
import { TokenNotFound } from './TokenNotFound';

const words = texts.adminKey;
const back = { href: '/admin/tokens', label: words.back };

export function TokenDetails({ id }: { id: number }) {
  const { data: token, error, refetch } = useAnyToken(id);

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
        actions={<AdminTokenSwitch label={texts.key.allow} labelPosition="left" token={token} />}
      />
      <Stack gap="lg">
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
