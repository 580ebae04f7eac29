import { Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Gateway, useCreateGateway } from '../../../api/adminGateways';
import { requestLimits } from '../../../api/serverLimits';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import { VerifyExample } from './VerifyExample';

const words = texts.adminGateways.dialog;

export function CreateGatewayDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { secret: created, keep, show, forget } = useSecretDialog<Gateway>();

  function done(gateway: Gateway) {
    onClose();
    keep(gateway);
  }

  return (
    <>
      <Modal
        opened={opened}
        onClose={onClose}
        onExitTransitionEnd={show}
        title={words.title}
        closeOnClickOutside={false}
      >
        <CreateGatewayForm onDone={done} onCancel={onClose} />
      </Modal>
      <SecretDialog
        title={words.secretTitle(created?.name ?? '')}
        secret={created?.credential ?? undefined}
        onClose={forget}
      >
        <VerifyExample />
      </SecretDialog>
    </>
  );
}

function CreateGatewayForm({
  onDone,
  onCancel,
}: {
  onDone: (created: Gateway) => void;
  onCancel: () => void;
}) {
  const create = useCreateGateway();
  const [name, setName] = useState('');
  const [isSent, setSent] = useState(false);
  const isMissing = name.trim() === '';

  function send() {
    setSent(true);
    if (!isMissing) create.mutate(name, { onSuccess: onDone });
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
        label={words.name}
        description={words.nameHint}
        error={isSent && isMissing && words.nameMissing}
        autoComplete="off"
        data-autofocus
        required
        withAsterisk={false}
        maxLength={requestLimits.NewGatewayBody.name.maxLength}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </DialogForm>
  );
}
