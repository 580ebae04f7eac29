import { Group, Input, Paper, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useGrantQuota } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatUsd } from '../../../format/money';
import { FormModal } from '../../../shared/form/FormModal';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import type { UserDialogProps } from './UserDialogs';
import { WalletNoteField } from './WalletNoteField';
import { type WalletMode, walletChange, walletNote } from './wallet';
import { walletErrorText } from './walletErrorText';

const words = texts.adminUsers.walletDialog;
const modes: WalletMode[] = ['add', 'take', 'set'];

interface WalletForm {
  mode: WalletMode;
  amount: string;
  note: string;
}

export function WalletDialog({ user, opened, onClose }: UserDialogProps) {
  return (
    <FormModal opened={opened} onClose={onClose} title={words.title(user.username)}>
      <WalletFields user={user} onClose={onClose} />
    </FormModal>
  );
}

function WalletFields({ user, onClose }: { user: User; onClose: () => void }) {
  const grantQuota = useGrantQuota();
  const changeOf = ({ mode, amount }: WalletForm) => walletChange(mode, user.quota, amount);
  const { form, ...sending } = useSendForm<WalletForm>({
    initialValues: { mode: 'add', amount: '', note: '' },
    validate: (values, submitted) => {
      const change = changeOf(values);
      if (!('error' in change)) return {};
      return { amount: (submitted || change.error !== 'empty') && walletErrorText(change.error, user.quota) };
    },
    mutation: grantQuota,
    send,
  });
  const change = changeOf(form.values);

  function send(values: WalletForm) {
    const change = changeOf(values);
    if ('error' in change) return;
    grantQuota.mutate(
      { id: user.id, grant: { ...change.grant, note: walletNote(values.note) } },
      {
        onSuccess: (changed) => {
          notifySuccess(words.done(user.username, formatUsd(changed.quota)));
          onClose();
        },
      },
    );
  }

  return (
    <SendForm sending={sending} submitLabel={words.submit} onCancel={onClose}>
      <Input.Wrapper label={words.mode} labelElement="div">
        <SegmentedControl
          fullWidth
          aria-label={words.mode}
          data={modes.map((value) => ({ value, label: words.modes[value] }))}
          value={form.values.mode}
          onChange={(mode) => form.setFieldValue('mode', mode)}
        />
      </Input.Wrapper>
      <TextInput
        label={words.amount}
        inputMode="decimal"
        leftSection="$"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <WalletNoteField {...form.getInputProps('note')} />
      <Paper p="md" aria-live="polite">
        {/* Large amounts need two lines on a narrow screen. */}
        <Group gap="xs" justify="space-between">
          <Balance label={words.before} units={user.quota} />
          <IconArrowRight size={20} stroke={1.6} color="var(--mantine-color-dimmed)" />
          <Balance label={words.after} units={'balance' in change ? change.balance : undefined} strong />
        </Group>
      </Paper>
      <Input.Description>{words.concurrentSpend}</Input.Description>
    </SendForm>
  );
}

function Balance({
  label,
  units,
  strong,
}: {
  label: ReactNode;
  units: number | undefined;
  strong?: boolean;
}) {
  return (
    <Stack gap={2} flex="1 1 auto" ta={strong ? 'right' : undefined} className="tabular">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fw={600} c={strong ? 'var(--km-accent)' : undefined}>
        {units === undefined ? '–' : formatUsd(units)}
      </Text>
      <Text size="xs" c="dimmed">
        {units === undefined ? '\u00a0' : texts.common.units(formatInteger(units))}
      </Text>
    </Stack>
  );
}
