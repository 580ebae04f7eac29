import { TextInput } from '@mantine/core';
import { type Gateway, useCreateGateway } from '../../../api/adminGateways';
import { requestLimits } from '../../../api/serverLimits';
import { SecretFormDialog } from '../../../shared/form/SecretFormDialog';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { texts } from '../../../texts';
import { VerifyExample } from './VerifyExample';

const words = texts.adminGateways.dialog;

export function CreateGatewayDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <SecretFormDialog<Gateway>
      opened={opened}
      onClose={onClose}
      title={words.title}
      form={(onDone) => <CreateGatewayForm onDone={onDone} onCancel={onClose} />}
      secret={(created) => ({
        title: words.secretTitle(created?.name ?? ''),
        secret: created?.credential ?? undefined,
        children: <VerifyExample />,
      })}
    />
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
