import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { ChangedUser } from '../../../../api/bulkUsers';
import { ApiError } from '../../../../api/error';
import { formatInteger } from '../../../../format/locale';
import { formatUsd } from '../../../../format/money';
import { type Column, DataTable } from '../../../../shared/DataTable';
import { FailureMessage } from '../../../../shared/FailureMessage';
import { Money } from '../../../../shared/Money';
import { Name } from '../../../../shared/Name';
import { useScrollRegion } from '../../../../shared/useScrollRegion';
import { texts } from '../../../../texts';
import type { BulkAction } from './bulkForm';
import { FaultList } from './FaultList';
import { addedTo, isChanged, stateText } from './stateText';

const words = texts.adminBulk;
const MAX_HEIGHT = '50vh';

interface Props {
  action: BulkAction;
  users: ChangedUser[];
  mutation: { isPending: boolean; error: Error | null };
  onApply: () => void;
  onBack: () => void;
}

/** What the change would do to each user, and the button that makes it. */
export function BulkPreview({ action, users, mutation, onApply, onBack }: Props) {
  const summary = useRef<HTMLParagraphElement>(null);
  // What had the focus no longer exists.
  useEffect(() => summary.current?.focus(), []);
  const region = useScrollRegion(words.table);
  const { error, isPending } = mutation;
  const faults = error instanceof ApiError ? error.faults : [];
  return (
    <Stack>
      <Text ref={summary} tabIndex={-1}>
        {summaryOf(action, users)}
      </Text>
      <div {...region} style={{ ...region.style, maxHeight: MAX_HEIGHT }}>
        <DataTable
          label={words.table}
          columns={columnsOf(action)}
          rows={users}
          rowKey={({ id }) => id}
          empty=""
        />
      </div>
      {faults.length > 0 && <FaultList faults={faults} />}
      {error && faults.length === 0 && (
        <Text c="var(--mantine-color-error)" role="alert">
          <FailureMessage error={error} />
        </Text>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onBack} disabled={isPending}>
          {words.back}
        </Button>
        <Button color={action === 'disable' ? 'red' : undefined} loading={isPending} onClick={onApply}>
          {words.apply[action](users.length)}
        </Button>
      </Group>
    </Stack>
  );
}

function summaryOf(action: BulkAction, users: ChangedUser[]): string {
  if (action === 'top_up') return words.previews.topUp(users.length, formatUsd(totalAdded(users)));
  return words.previews.change(formatInteger(users.filter(isChanged).length), users.length);
}

/** Quota units that all of them get together. */
export function totalAdded(users: ChangedUser[]): number {
  return users.reduce((sum, user) => sum + addedTo(user), 0);
}

function columnsOf(action: BulkAction): Column<ChangedUser>[] {
  const isTopUp = action === 'top_up';
  const align = isTopUp ? 'right' : undefined;
  return [
    {
      key: 'user',
      header: words.columns.user,
      place: 'title',
      cell: ({ username }) => (
        <Text size="sm" fw={600}>
          <Name>{username}</Name>
        </Text>
      ),
    },
    {
      key: 'before',
      header: words.columns.before,
      align,
      cell: ({ before }) => before && stateText(action, before),
    },
    ...(isTopUp ? [added] : []),
    {
      key: 'after',
      header: words.columns.after,
      align,
      cell: (user) =>
        isChanged(user) ? (
          <Text size="sm" fw={600}>
            {stateText(action, user.after)}
          </Text>
        ) : (
          <Text size="sm" c="dimmed">
            {words.same}
          </Text>
        ),
    },
  ];
}

const added: Column<ChangedUser> = {
  key: 'added',
  header: words.columns.added,
  align: 'right',
  cell: (user) => <Money units={addedTo(user)} change />,
};
