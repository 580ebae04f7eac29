import { Button, Group, Paper, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconServer2 } from '@tabler/icons-react';
import { type Credential, type Gateway, useGateways } from '../../../api/adminGateways';
import { useUsernames } from '../../../api/adminUsers';
import { type Column, DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { PageHeader } from '../../../shared/PageHeader';
import { WhenText } from '../../../shared/WhenText';
import { texts } from '../../../texts';
import { nameOf } from '../shared/nameOf';
import { useRowDialog } from '../shared/useRowDialog';
import { CreateGatewayDialog } from './CreateGatewayDialog';
import { CredentialList } from './CredentialList';
import { NewCredentialButton } from './NewCredentialButton';
import { RevokeCredentialDialog } from './RevokeCredentialDialog';
import { RevokeGatewayDialog } from './RevokeGatewayDialog';

const words = texts.adminGateways;

export default function GatewaysPage() {
  const gateways = useGateways();
  const usernames = useUsernames();
  const [creating, { open: create, close: endCreating }] = useDisclosure();
  const { dialog, row, open, close } = useRowDialog<'revoke', Gateway>();
  const ending = useRowDialog<'revoke', { gateway: Gateway; credential: Credential }>();

  const createButton = (
    <Button leftSection={<IconPlus size={18} />} onClick={create}>
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
          {gateway.name}
        </Text>
      ),
    },
    {
      key: 'made',
      header: words.columns.made,
      cell: (gateway) => <WhenText seconds={gateway.created_time} />,
    },
    {
      key: 'made by',
      header: words.columns.madeBy,
      cell: ({ created_by }) => (created_by ? nameOf(created_by, usernames.data) : words.byOperator),
    },
    {
      key: 'credentials',
      header: words.columns.credentials,
      cell: (gateway) => (
        <CredentialList
          gateway={gateway}
          onRevoke={(credential) => ending.open('revoke', { gateway, credential })}
        />
      ),
    },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      cell: (gateway) => (
        <Group gap="xs" justify="flex-end">
          <NewCredentialButton gateway={gateway} />
          <Button
            variant="default"
            size="xs"
            aria-label={words.revokeLabel(gateway.name)}
            onClick={() => open('revoke', gateway)}
          >
            {words.revoke}
          </Button>
        </Group>
      ),
    },
  ];
  return (
    <>
      <PageHeader title={words.title} description={words.description} actions={createButton} />
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
          empty={<EmptyState icon={IconServer2} {...words.empty} action={createButton} />}
        />
      )}
      <CreateGatewayDialog opened={creating} onClose={endCreating} />
      {row && <RevokeGatewayDialog key={row.id} gateway={row} opened={dialog === 'revoke'} onClose={close} />}
      {ending.row && (
        <RevokeCredentialDialog
          key={`credential-${ending.row.credential.id}`}
          {...ending.row}
          opened={ending.dialog === 'revoke'}
          onClose={ending.close}
        />
      )}
    </>
  );
}
