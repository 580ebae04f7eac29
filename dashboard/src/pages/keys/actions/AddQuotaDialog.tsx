import { Text, TextInput } from '@mantine/core';
import { useAddQuota } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { formatUsdExact } from '../../../format/money';
import { FormModal } from '../../../shared/form/FormModal';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { KeyNames } from './KeyNames';
import { hasQuota, quotaToAdd } from './quotaToAdd';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onAdded?: () => void;
  onClose: () => void;
}

const words = texts.keys.addQuota;

/** Adds the same amount to each key that has a quota. */
export function AddQuotaDialog({ tokens, onAdded, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  const limited = shown.filter(hasQuota);
  return (
    <FormModal opened={tokens !== undefined} onClose={onClose} title={words.title(limited.length)}>
      <KeyNames tokens={limited} />
      {limited.length < shown.length && (
        <Text size="sm" c="dimmed" mb="md">
          {words.unlimited(shown.length - limited.length)}
        </Text>
      )}
      <AmountForm
        tokens={limited}
        onAdded={() => {
          onClose();
          onAdded?.();
        }}
        onClose={onClose}
      />
    </FormModal>
  );
}

function AmountForm({
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
