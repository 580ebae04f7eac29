import { Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCreateUser } from '../../../api/adminUsers';
import { useUser } from '../../../api/session';
import { parseUsd } from '../../../format/money';
import { notifySuccess } from '../../../shared/notify';
import { SecretShownOnce } from '../../../shared/SecretShownOnce';
import { useSecretAfter } from '../../../shared/useSecretAfter';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import { PasswordField } from './PasswordField';
import { isTooShort } from './password';
import { rolesToGive } from './rights';
import { UserFields } from './UserFields';
import { emptyUserForm, newUserOf, readLimit } from './userForm';

const words = texts.adminUsers.createDialog;
const { fields } = texts.adminUsers;

interface Handover {
  username: string;
  password: string;
}

export function CreateUserDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { secret: handover, keep, show, forget } = useSecretAfter<Handover>();

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
      <SecretShownOnce
        title={words.passwordOf(handover?.username ?? '')}
        hint={words.passwordHint}
        secret={handover?.password}
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
  const walletMistake = 'mistake' in quota ? texts.common.usdMistake[quota.mistake] : undefined;
  const passwordMistake = isTooShort(password.text) ? texts.adminUsers.password.tooShort : undefined;
  const usernameMistake = username.trim() ? undefined : fields.usernameMissing;

  function send() {
    setSent(true);
    if (usernameMistake || passwordMistake || limit === undefined || 'mistake' in quota) return;
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
        error={isSent && usernameMistake}
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
        mistake={isSent ? passwordMistake : undefined}
        onChange={(text, isGenerated) => setPassword({ text, isGenerated })}
      />
      <UserFields
        form={form}
        onChange={(change) => setForm({ ...form, ...change })}
        roles={rolesToGive(admin)}
        limitMistake={limit === undefined ? fields.limitMistake : undefined}
      >
        <TextInput
          label={fields.wallet}
          placeholder={fields.defaultWallet}
          inputMode="decimal"
          leftSection="$"
          error={walletMistake}
          value={wallet}
          onChange={(event) => setWallet(event.currentTarget.value)}
        />
      </UserFields>
    </DialogForm>
  );
}
