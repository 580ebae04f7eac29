import { Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateUser } from '../../../api/adminUsers';
import { useUser } from '../../../api/session';
import { parseUsd } from '../../../format/money';
import { notifySuccess } from '../../../shared/notify';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import { PasswordField } from './PasswordField';
import { isTooShort } from './password';
import { assignableRoles } from './permissions';
import { UserFields } from './UserFields';
import { emptyUserForm, newUserOf, readLimit } from './userForm';

const words = texts.adminUsers.createDialog;
const { fields } = texts.adminUsers;

interface GeneratedPassword {
  username: string;
  password: string;
}

export function CreateUserDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { secret: created, keep, show, forget } = useSecretDialog<GeneratedPassword>();

  function done(username: string, generated: string | undefined) {
    onClose();
    if (generated) keep({ username, password: generated });
    else notifySuccess(words.done(username));
  }

  return (
    <>
      <Modal
        opened={opened}
        onClose={onClose}
        onExitTransitionEnd={show}
        title={words.title}
        size="lg"
        closeOnClickOutside={false}
      >
        <CreateUserForm onDone={done} onCancel={onClose} />
      </Modal>
      <SecretDialog
        title={words.passwordOf(created?.username ?? '')}
        hint={words.passwordHint}
        secret={created?.password}
        onClose={forget}
      />
    </>
  );
}

interface FormProps {
  onDone: (username: string, generatedPassword: string | undefined) => void;
  onCancel: () => void;
}

function CreateUserForm({ onDone, onCancel }: FormProps) {
  const admin = useUser();
  const create = useCreateUser();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState({ text: '', isGenerated: false });
  const [form, setForm] = useState(emptyUserForm);
  const [wallet, setWallet] = useState('');
  const [isSent, setSent] = useState(false);

  const limit = readLimit(form.max_tokens);
  const quota = wallet.trim() === '' ? { units: undefined } : parseUsd(wallet);
  const walletError = 'error' in quota ? texts.common.usdErrors[quota.error] : undefined;
  const passwordError = isTooShort(password.text) ? texts.adminUsers.password.tooShort : undefined;
  const usernameError = username.trim() ? undefined : fields.usernameMissing;

  function send() {
    setSent(true);
    if (usernameError || passwordError || limit === undefined || 'error' in quota) return;
    create.mutate(newUserOf(form, username, password.text, quota.units), {
      onSuccess: (user) => onDone(user.username, password.isGenerated ? password.text : undefined),
    });
  }

  return (
    <DialogForm
      submitLabel={words.submit}
      pending={create.isPending}
      failure={create.error}
      onSubmit={send}
      onCancel={onCancel}
    >
      <TextInput
        label={fields.username}
        description={fields.usernameHint}
        error={isSent && usernameError}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        required
        withAsterisk={false}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordField
        label={texts.adminUsers.password.label}
        value={password.text}
        error={isSent ? passwordError : undefined}
        onChange={(text, isGenerated) => setPassword({ text, isGenerated })}
      />
      <UserFields
        form={form}
        onChange={(change) => setForm({ ...form, ...change })}
        roles={assignableRoles(admin)}
        limitError={limit === undefined ? fields.limitError : undefined}
      >
        <TextInput
          label={fields.wallet}
          placeholder={fields.defaultWallet}
          inputMode="decimal"
          leftSection="$"
          error={walletError}
          value={wallet}
          onChange={(event) => setWallet(event.currentTarget.value)}
        />
      </UserFields>
    </DialogForm>
  );
}
