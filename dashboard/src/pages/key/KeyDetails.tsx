import { Button, Stack } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/error';
import { useToken } from '../../api/tokens';
import { DetailsPending } from '../../shared/DetailsPending';
import { ImportedBadge } from '../../shared/ImportedBadge';
import { PageHeader } from '../../shared/PageHeader';
import { StateBadge } from '../../shared/StateBadge';
import { TokenSwitch } from '../../shared/TokenSwitch';
import { texts } from '../../texts';
import { KeyMenu } from '../keys/actions/KeyMenu';
import { useKeyActions } from '../keys/actions/useKeyActions';
import { AccountLimitAlert } from './AccountLimitAlert';
import { KeyFacts } from './KeyFacts';
import { KeyNotFound } from './KeyNotFound';
import { LockedAlert } from './LockedAlert';
import { MaskedKey } from './MaskedKey';
import { OldKeysSection } from './old-keys/OldKeysSection';
import { UseSection } from './UseSection';
import { UsageSection } from './usage/UsageSection';

const words = texts.key;
const back = { href: '/keys', label: words.back };

export function KeyDetails({ id }: { id: number }) {
  const [, navigate] = useLocation();
  const { data: token, error, refetch } = useToken(id);
  const { actions, dialogs } = useKeyActions({ onDeleted: () => navigate('/keys') });

  if (error instanceof ApiError && error.status === 404) return <KeyNotFound />;
  if (!token) {
    return <DetailsPending title={words.title} back={back} error={error} onRetry={refetch} />;
  }
  const isUsed = token.used_quota > 0;
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
            <TokenSwitch
              label={words.allow}
              labelPosition="left"
              token={token}
              onSwitch={(on) => actions.setSwitch([token], on)}
            />
            <Button
              variant="default"
              leftSection={<IconPencil size={18} stroke={1.6} />}
              onClick={() => actions.edit(token)}
            >
              {words.edit}
            </Button>
            <KeyMenu token={token} actions={actions} onOwnPage />
          </>
        }
      />
      <Stack gap="xl">
        <LockedAlert token={token} />
        <AccountLimitAlert />
        <KeyFacts token={token} maskedKey={<MaskedKey token={token} actions={actions} />} />
        <OldKeysSection tokenId={token.id} />
        {/* The examples come first until the key is used. */}
        {!isUsed && <UseSection token={token} />}
        <UsageSection token={token} />
        {isUsed && <UseSection token={token} />}
      </Stack>
      {dialogs}
    </>
  );
}
