import { Text } from '@mantine/core';
import { useState } from 'react';
import {
  type ChangedUsers,
  type UsersChange,
  useChangeUsers,
  usePreviewUsersChange,
} from '../../../../api/bulkUsers';
import { ApiError } from '../../../../api/error';
import { newIdempotencyKey } from '../../../../api/idempotencyKey';
import type { User } from '../../../../api/session';
import { formatList } from '../../../../format/list';
import { formatUsd } from '../../../../format/money';
import { FormModal } from '../../../../shared/form/FormModal';
import { SendForm } from '../../../../shared/form/SendForm';
import { useSendForm } from '../../../../shared/form/useSendForm';
import { notifySuccess } from '../../../../shared/notify';
import { notifyUndo } from '../../../../shared/notifyUndo';
import { useLastDefined } from '../../../../shared/useLastDefined';
import { texts } from '../../../../texts';
import { WalletNoteField } from '../WalletNoteField';
import { BulkPreview, totalAdded } from './BulkPreview';
import { actionOf, type BulkAction, bulkErrors, changeOf, emptyBulkForm, isFile } from './bulkForm';
import { ChangeFields } from './ChangeFields';
import { FaultList } from './FaultList';
import { firstOf } from './firstOf';
import { useUndoTopUp } from './useUndoTopUp';
import { WhoFields } from './WhoFields';

const words = texts.adminBulk;
const MAX_NAMED = 10;

/** What the dialog begins with. */
interface BulkRequest {
  /** The users that were selected. Absent if the dialog asks whom. */
  users?: User[];
  action: BulkAction;
}

interface Props {
  /** The dialog is open while this is defined. */
  request: BulkRequest | undefined;
  /** Deselects these users. */
  onLeaveOut: (users: User[]) => void;
  onDone: () => void;
  onClose: () => void;
}

/** Changes many users at once: asks what, shows what it would do to each, and does it. */
export function BulkUsersDialog({ request, onClose, ...props }: Props) {
  const shown = useLastDefined(request);
  const count = shown?.users?.length;
  return (
    <FormModal
      opened={request !== undefined}
      onClose={onClose}
      title={count === undefined ? words.title : words.titleOf(count)}
      size="xl"
    >
      {shown && <BulkFields request={shown} onClose={onClose} {...props} />}
    </FormModal>
  );
}

/** What was asked for, and what it would do. */
interface Preview {
  change: UsersChange;
  key: string;
  action: BulkAction;
  users: ChangedUsers['users'];
}

function BulkFields({ request, onLeaveOut, onDone, onClose }: Props & { request: BulkRequest }) {
  const { users } = request;
  const ids = users?.map(({ id }) => id);
  const preview = usePreviewUsersChange();
  const change = useChangeUsers();
  const undo = useUndoTopUp();
  const [previewed, setPreviewed] = useState<Preview>();
  const { form, ...sending } = useSendForm({
    initialValues: { ...emptyBulkForm, action: request.action },
    validate: (values, submitted) => bulkErrors(values, ids, submitted),
    mutation: preview,
    send: (values) => {
      const asked = changeOf(values, ids);
      const action = actionOf(values, ids);
      const onSuccess = ({ users }: ChangedUsers) =>
        setPreviewed({ change: asked, key: newIdempotencyKey(), action, users });
      preview.mutate(asked, { onSuccess });
    },
  });

  function apply({ change: asked, key, action, users }: Preview) {
    const report = (changed: ChangedUsers) => {
      onClose();
      onDone();
      const count = changed.users.length;
      const taken = changed.undo;
      if (action !== 'top_up') return notifySuccess(words.changed(count));
      const message = words.toppedUp(count, formatUsd(totalAdded(users)));
      if (taken) notifyUndo(message, () => undo(taken));
      else notifySuccess(message);
    };
    // A promise, because the callbacks of `mutate` would not run after the dialog was closed.
    change.mutateAsync({ change: asked, key }).then(report, () => {});
  }

  if (previewed) {
    return (
      <BulkPreview
        action={previewed.action}
        users={previewed.users}
        mutation={change}
        onApply={() => apply(previewed)}
        onBack={() => {
          change.reset();
          setPreviewed(undefined);
        }}
      />
    );
  }
  const { faults } = sending.failure instanceof ApiError ? sending.failure : { faults: [] };
  const failing = users?.filter(({ id }) => faults.some((fault) => fault.id === id)) ?? [];
  const leaveOut = () => {
    preview.reset();
    onLeaveOut(failing);
  };
  return (
    <SendForm
      sending={{ ...sending, failure: faults.length > 0 ? null : sending.failure }}
      submitLabel={words.preview}
      onCancel={onClose}
    >
      {users ? <Names users={users} /> : <WhoFields form={form} />}
      {isFile(form.values, ids) ? (
        <WalletNoteField {...form.getInputProps('note')} />
      ) : (
        <ChangeFields form={form} />
      )}
      {faults.length > 0 && (
        <FaultList
          faults={faults}
          onLeaveOut={failing.length > 0 && failing.length < (users?.length ?? 0) ? leaveOut : undefined}
        />
      )}
    </SendForm>
  );
}

function Names({ users }: { users: User[] }) {
  const names = users.map(({ username }) => username);
  return (
    <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {formatList(firstOf(names, MAX_NAMED))}
    </Text>
  );
}
