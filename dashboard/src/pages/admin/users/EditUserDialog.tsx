import { Fieldset, Stack } from '@mantine/core';
import { useEditUser } from '../../../api/adminUsers';
import { useUser } from '../../../api/session';
import { FormModal } from '../../../shared/form/FormModal';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { assignableRoles, mayLockOut } from './permissions';
import type { UserDialogProps } from './UserDialogs';
import { UserFields } from './UserFields';
import { limitError, periodErrors, type UserForm, userFormOf, userPatchOf, userRefusals } from './userForm';

const words = texts.adminUsers.editDialog;

interface Props extends UserDialogProps {
  /** The path of the input that gets the focus. */
  startsAt?: string;
}

export function EditUserDialog({ opened, ...props }: Props) {
  const { user, onClose } = props;
  return (
    <FormModal opened={opened} onClose={onClose} title={words.title(user.username)} size="lg">
      <EditUserForm {...props} />
    </FormModal>
  );
}

function EditUserForm({ user, startsAt, onClose }: Omit<Props, 'opened'>) {
  const admin = useUser();
  const edit = useEditUser();
  const { form, ...sending } = useSendForm({
    initialValues: userFormOf(user),
    validate: ({ max_tokens, period_limits }) => ({
      max_tokens: limitError(max_tokens),
      ...periodErrors(period_limits),
    }),
    mutation: edit,
    refusals: userRefusals,
    send,
  });

  function send(values: UserForm) {
    const patch = userPatchOf(values, user);
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
    <SendForm sending={sending} submitLabel={texts.common.save} startsAt={startsAt} onCancel={onClose}>
      <UserFields user={user} form={form} roles={mayLockOut(admin, user) ? assignableRoles(admin) : []} />
      <Fieldset legend={texts.adminUsers.fields.periodLimits}>
        <Stack gap="sm">
          <PeriodLimitFields form={form} usage={user.period_usage} />
        </Stack>
      </Fieldset>
    </SendForm>
  );
}
