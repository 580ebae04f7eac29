import { Button, Group, Paper, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { type RefObject, useRef } from 'react';
import { type Credential, type Gateway, useCreateCredential, useGateways } from '../../../api/adminGateways';
import { useAccount } from '../../../api/adminUsers';
import { type Column, DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { Name } from '../../../shared/Name';
import { notifyFailure } from '../../../shared/notify';
import { PageHeader } from '../../../shared/PageHeader';
import { RelativeTime } from '../../../shared/RelativeTime';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { UserLink } from '../shared/links';
import { CreateGatewayDialog } from './CreateGatewayDialog';
import { CredentialList } from './CredentialList';
import { NewCredentialDialog } from './NewCredentialDialog';
import { RemoveGatewayDialog } from './RemoveGatewayDialog';
import { RevokeCredentialDialog } from './RevokeCredentialDialog';

const words = texts.adminGateways;

export default function GatewaysPage() {
  const gateways = useGateways();
  const [creating, { open: create, close: endCreating }] = useDisclosure();
  const { dialog, row, open, close } = useRowDialog<'remove', Gateway>();
  const credentialDialog = useRowDialog<'revoke', { gateway: Gateway; credential: Credential }>();
  const newCredential = useCreateCredential();
  const createButtonRef = useRef<HTMLButtonElement>(null);

  function createCredential(gateway: Gateway) {
    // The button is not disabled while pending, because the dialog returns the focus to it.
    if (!newCredential.isPending) newCredential.mutate(gateway.id, { onError: notifyFailure });
  }

  const createButton = (ref?: RefObject<HTMLButtonElement | null>) => (
    <Button ref={ref} leftSection={<IconPlus size={18} />} onClick={create}>
      {words.create}
    </Button>
  );
  const columns: Column<Gateway>[] = [
    {
      key: 'name',
      header: words.columns.name,
      place: 'title',
      cell: (gateway) => (
        <Text fw={600} size="sm">
          <Name>{gateway.name}</Name>
        </Text>
      ),
    },
    {
      key: 'created',
      header: words.columns.created,
      cell: (gateway) => <RelativeTime seconds={gateway.created_time} />,
    },
    {
      key: 'createdBy',
      header: words.columns.createdBy,
      cell: ({ created_by }) => (created_by ? <Username id={created_by} /> : words.byOperator),
    },
    {
      key: 'credentials',
      header: words.columns.credentials,
      cell: (gateway) => (
        <CredentialList
          gateway={gateway}
          onRevoke={(credential) => credentialDialog.open('revoke', { gateway, credential })}
        />
      ),
    },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      cell: (gateway) => (
        <Group gap="xs" justify="flex-end">
          <Button
            variant="default"
            size="xs"
            aria-label={words.credential.createLabel(gateway.name)}
            onClick={() => createCredential(gateway)}
          >
            {words.credential.create}
          </Button>
          <Button
            variant="default"
            size="xs"
            aria-label={words.removeLabel(gateway.name)}
            onClick={() => open('remove', gateway)}
          >
            {words.remove}
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={createButton(createButtonRef)}
      />
      {gateways.error && !gateways.data ? (
        <Paper>
          <FailureState error={gateways.error} onRetry={() => gateways.refetch()} />
        </Paper>
      ) : (
        <DataTable
          label={words.title}
          columns={columns}
          rows={gateways.data}
          rowKey={(gateway) => gateway.id}
          empty={<EmptyState icon={IconServer2} {...words.empty} action={createButton()} />}
        />
      )}
      <CreateGatewayDialog opened={creating} onClose={endCreating} />
      <NewCredentialDialog
        gateway={gateways.data?.find(({ id }) => id === newCredential.variables)}
        credential={newCredential.data?.credential ?? undefined}
        onClose={newCredential.reset}
      />
      {row && (
        <RemoveGatewayDialog
          key={row.id}
          gateway={row}
          opened={dialog === 'remove'}
          focusAfterRemoval={createButtonRef}
          onClose={close}
        />
      )}
      {credentialDialog.row && (
        <RevokeCredentialDialog
          key={`credential-${credentialDialog.row.credential.id}`}
          {...credentialDialog.row}
          opened={credentialDialog.dialog === 'revoke'}
          focusAfterRevoke={createButtonRef}
          onClose={credentialDialog.close}
        />
      )}
    </>
  );
}

function Username({ id }: { id: number }) {
  return <UserLink id={id} name={useAccount(id).data?.username} />;
}
