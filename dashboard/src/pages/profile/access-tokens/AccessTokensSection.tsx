import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { IconPlugConnected, IconPlus } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { type AccessToken, useAccessTokens } from '../../../api/accessTokens';
import { DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { accessTokenColumns } from './accessTokenColumns';
import { CreateAccessTokenDialog } from './CreateAccessTokenDialog';
import { RevokeAccessTokenDialog } from './RevokeAccessTokenDialog';

const words = texts.profile.accessTokens;

export function AccessTokensSection() {
  const { data: tokens, error, refetch } = useAccessTokens();
  const createButton = useRef<HTMLButtonElement>(null);
  const [creating, setCreating] = useState(false);
  const { dialog, row, open, close } = useRowDialog<'revoke', AccessToken>();
  return (
    <section>
      <Group justify="space-between" align="flex-end" mt="xl" mb="md">
        <div>
          <Title order={2}>{words.title}</Title>
          <Text c="dimmed" size="sm">
            {words.hint}
          </Text>
        </div>
        <Button
          ref={createButton}
          variant="default"
          leftSection={<IconPlus size={18} />}
          onClick={() => setCreating(true)}
        >
          {words.create}
        </Button>
      </Group>
      {error && !tokens ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <DataTable
          label={words.title}
          columns={accessTokenColumns((token) => open('revoke', token))}
          rows={tokens}
          rowKey={(token) => token.id}
          empty={<EmptyState icon={IconPlugConnected} title={words.empty} hint={words.emptyHint} />}
        />
      )}
      <CreateAccessTokenDialog opened={creating} onClose={() => setCreating(false)} />
      {row && (
        <RevokeAccessTokenDialog
          key={row.id}
          token={row}
          opened={dialog === 'revoke'}
          focusAfterRevoke={createButton}
          onClose={close}
        />
      )}
    </section>
  );
}
