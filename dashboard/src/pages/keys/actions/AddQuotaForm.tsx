import { TextInput } from '@mantine/core';
import { useAddQuota } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { formatUsdExact } from '../../../format/money';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { quotaToAdd } from './quotaToAdd';

const words = texts.keys.addQuota;

export function AddQuotaForm({
  tokens,
  onAdded,
  onClose,
}: {
  tokens: Token[];
  onAdded: () => void;
  onClose: () => void;
}) {
  const addQuota = useAddQuota();
  const { form, ...sending } = useSendForm({
    initialValues: { amount: '' },
    validate: ({ amount }, submitted) => {
      const added = quotaToAdd(amount);
      return 'error' in added && (submitted || !added.isEmpty) ? { amount: added.error } : {};
    },
    mutation: addQuota,
    send: ({ amount }) => {
      const added = quotaToAdd(amount);
      if ('error' in added) return;
      const { units } = added;
      const onSuccess = ({ length }: Token[]) => {
        notifySuccess(words.done(formatUsdExact(units), length));
        onAdded();
      };
      addQuota.mutate({ tokens, units }, { onSuccess });
    },
  });
  return (
    <SendForm sending={sending} submitLabel={words.confirm} onCancel={onClose}>
      <TextInput
        label={words.amount}
        inputMode="decimal"
        leftSection="$"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('amount')}
      />
    </SendForm>
  );
}
