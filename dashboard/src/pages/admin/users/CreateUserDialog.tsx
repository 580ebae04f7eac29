import { Fieldset, Stack, TextInput } from '@mantine/core';
import { useCreateUser } from '../../../api/adminUsers';
import { useUser } from '../../../api/session';
import { parseUsd, type UsdError } from '../../../format/typed';
import { SecretFormDialog } from '../../../shared/form/SecretFormDialog';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { PasswordField } from './PasswordField';
import { isTooShort, noPassword } from './password';
import { assignableRoles } from './permissions';
import { UserFields } from './UserFields';
import { type Account, useHandOver } from './useHandOver';
import { emptyUserForm, limitError, newUserOf, periodErrors, userRefusals } from './userForm';

const words = texts.adminUsers.createDialog;
const { fields } = texts.adminUsers;

export function CreateUserDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const handOver = useHandOver();
  return (
    <SecretFormDialog<Account>
      opened={opened}
      onClose={onClose}
      title={words.title}
      size="lg"
      form={(onDone) => <CreateUserForm onDone={onDone} onCancel={onClose} />}
      secret={handOver}
    />
  );
}

interface FormProps {
  onDone: (created: Account) => void;
  onCancel: () => void;
}

function CreateUserForm({ onDone, onCancel }: FormProps) {
  const admin = useUser();
  const create = useCreateUser();
  const { form, ...sending } = useSendForm({
    initialValues: { ...emptyUserForm, username: '', password: noPassword, wallet: '' },
    validate: ({ username, password, max_tokens, wallet, period_limits }, submitted) => ({
      username: submitted && username.trim() === '' && fields.usernameMissing,
      password: submitted && isTooShort(password.text) && texts.adminUsers.password.tooShort,
      max_tokens: limitError(max_tokens),
      wallet: walletError(wallet),
      ...periodErrors(period_limits),
    }),
    mutation: create,
    refusals: userRefusals,
    send: ({ username, password, wallet, ...user }) =>
      create.mutate(newUserOf(user, username, password.text, readWallet(wallet).units), {
        onSuccess: (created) => {
          onDone({ username: created.username, password: password.text });
          notifySuccess(words.done(created.username));
        },
      }),
  });

  return (
    <SendForm sending={sending} submitLabel={words.submit} onCancel={onCancel}>
      <TextInput
        label={fields.username}
        description={fields.usernameHint}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        required
        withAsterisk={false}
        {...form.getInputProps('username')}
      />
      <PasswordField {...form.getInputProps('password')} value={form.values.password} />
      <UserFields form={form} roles={assignableRoles(admin)}>
        <TextInput
          label={fields.wallet}
          placeholder={fields.defaultWallet}
          inputMode="decimal"
          leftSection="$"
          {...form.getInputProps('wallet')}
        />
      </UserFields>
      <Fieldset legend={fields.periodLimits}>
        <Stack gap="sm">
          <PeriodLimitFields form={form} usage={undefined} />
        </Stack>
      </Fieldset>
    </SendForm>
  );
}

/** The amount of the new wallet. Nothing typed means the default of the server. */
function readWallet(typed: string): { units?: number; error?: UsdError } {
  return typed.trim() === '' ? {} : parseUsd(typed);
}

function walletError(typed: string): string | undefined {
  const { error } = readWallet(typed);
  return error && texts.common.usdErrors[error];
}
