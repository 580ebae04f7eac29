import { Fieldset, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { useEditUser } from '../../../api/adminUsers';
import { type Period, periods } from '../../../api/limits';
import { type User, useUser } from '../../../api/session';
import { periodError } from '../../../shared/limits/draft';
import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import { assignableRoles, mayLockOut } from './permissions';
import type { UserDialogProps } from './UserDialogs';
import { UserFields } from './UserFields';
import { readLimit, userFormOf, userPatchOf } from './userForm';

const words = texts.adminUsers.editDialog;

export function EditUserDialog({ user, opened, onClose }: UserDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={words.title(user.username)}
      size="lg"
      closeOnClickOutside={false}
    >
      <EditUserForm user={user} onClose={onClose} />
    </Modal>
  );
}

function EditUserForm({ user, onClose }: { user: User; onClose: () => void }) {
  const admin = useUser();
  const edit = useEditUser();
  const [form, setForm] = useState(() => userFormOf(user));
  const isLimitWrong = readLimit(form.max_tokens) === undefined;

  const limitErrors: Partial<Record<Period, string>> = Object.fromEntries(
    periods.map((period) => [period, periodError(form.period_limits[period])]),
  );

  function send() {
    if (isLimitWrong || periods.some((period) => limitErrors[period])) return;
    const patch = userPatchOf(form, user);
    if (Object.keys(patch).length === 0) return onClose();
    edit.mutate(
      { id: user.id, patch },
      {
        onSuccess: () => {
          notifySuccess(words.done(user.username));
          onClose();
        },
      },
    );
  }

  return (
    <DialogForm
      submitLabel={texts.common.save}
      pending={edit.isPending}
      failure={edit.error}
      onSubmit={send}
      onCancel={onClose}
    >
      <UserFields
        user={user}
        form={form}
        onChange={(change) => setForm({ ...form, ...change })}
        roles={mayLockOut(admin, user) ? assignableRoles(admin) : []}
        limitError={isLimitWrong ? texts.adminUsers.fields.limitError : undefined}
      />
      <Fieldset legend={texts.adminUsers.fields.periodLimits}>
        <Stack gap="sm">
          <PeriodLimitFields
            draft={form.period_limits}
            errors={limitErrors}
            usage={user.period_usage}
            onChange={(period_limits) => setForm({ ...form, period_limits })}
          />
        </Stack>
      </Fieldset>
    </DialogForm>
  );
}
