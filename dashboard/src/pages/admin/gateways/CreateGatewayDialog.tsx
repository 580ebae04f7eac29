import { Modal, TextInput } from '@mantine/core';
import { type Gateway, useCreateGateway } from '../../../api/adminGateways';
import { requestLimits } from '../../../api/serverLimits';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
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
  const { form, ...sending } = useSendForm({
    initialValues: { name: '' },
    validate: ({ name }, submitted) => ({ name: submitted && name.trim() === '' && words.nameMissing }),
    mutation: create,
    send: ({ name }) => create.mutate(name, { onSuccess: onDone }),
  });

  return (
    <SendForm sending={sending} submitLabel={words.submit} onCancel={onCancel}>
      <TextInput
        label={words.name}
        description={words.nameHint}
        autoComplete="off"
        data-autofocus
        required
        withAsterisk={false}
        maxLength={requestLimits.NewGatewayBody.name.maxLength}
        {...form.getInputProps('name')}
      />
    </SendForm>
  );
}
