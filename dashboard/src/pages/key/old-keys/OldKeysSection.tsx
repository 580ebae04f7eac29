import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId, useRef } from 'react';
import { Link } from 'wouter';
import { type OldKey, useOldKeys } from '../../../api/oldKeys';
import { DataTable } from '../../../shared/DataTable';
import { FailureState } from '../../../shared/FailureState';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { oldKeyRefusalsHref } from '../../keys/oldKeyRefusalsHref';
import { EndOldKeyDialog } from './EndOldKeyDialog';
import { endedColumns, workingColumns } from './oldKeyColumns';

const words = texts.key.oldKeys;

/** The keys that the current one replaced. Most tokens have none, and then nothing is shown. */
export function OldKeysSection({ tokenId }: { tokenId: number }) {
  const { data, error, refetch } = useOldKeys(tokenId);
  const heading = useRef<HTMLHeadingElement>(null);
  const { dialog, row, open, close } = useRowDialog<'end', OldKey>();
  if (!data && !error) return null;
  if (data && data.working.length === 0 && data.ended.length === 0) return null;
  return (
    <section>
      <Group justify="space-between" align="flex-end" mb="md">
        <div>
          <Title order={2} ref={heading} tabIndex={-1}>
            {words.title}
          </Title>
          {data && (
            <Text c="dimmed" size="sm">
              {data.working.length > 0 ? words.hint : words.noneWork}
            </Text>
          )}
        </div>
        {data && data.ended.length > 0 && (
          <Anchor component={Link} href={oldKeyRefusalsHref(tokenId)} size="sm">
            {words.showRefused}
          </Anchor>
        )}
      </Group>
      {data ? (
        <Stack>
          {data.working.length > 0 && (
            <DataTable
              label={words.title}
              columns={workingColumns((oldKey) => open('end', oldKey))}
              rows={data.working}
              rowKey={({ id }) => id}
              empty={null}
            />
          )}
          {data.ended.length > 0 && <EndedKeys keys={data.ended} />}
        </Stack>
      ) : (
        error && <FailureState error={error} onRetry={refetch} />
      )}
      {row && (
        <EndOldKeyDialog
          key={row.id}
          tokenId={tokenId}
          oldKey={row}
          opened={dialog === 'end'}
          focusAfterEnd={heading}
          onClose={close}
        />
      )}
    </section>
  );
}

function EndedKeys({ keys }: { keys: OldKey[] }) {
  const id = useId();
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div>
      <Button variant="subtle" size="compact-sm" aria-expanded={opened} aria-controls={id} onClick={toggle}>
        {opened ? words.hideEnded : words.showEnded(keys.length)}
      </Button>
      <div id={id} hidden={!opened}>
        {opened && (
          <DataTable
            label={words.endedTable}
            columns={endedColumns}
            rows={keys}
            rowKey={({ id }) => id}
            empty={null}
          />
        )}
      </div>
    </div>
  );
}
