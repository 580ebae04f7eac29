import { Group, Input, Modal, Paper, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useGrantQuota } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatUsdExact } from '../../../format/money';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import type { UserDialogProps } from './UserDialogs';
import { MAX_WALLET_NOTE, type WalletMode, walletChange, walletNote } from './wallet';

const words = texts.adminUsers.walletDialog;
const errors = { ...texts.common.usdErrors, ...words.errors };
const modes: WalletMode[] = ['add', 'take', 'set'];

export function WalletDialog({ user, opened, onClose }: UserDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={words.title(user.username)} closeOnClickOutside={false}>
      <WalletForm user={user} onClose={onClose} />
    </Modal>
  );
}

function WalletForm({ user, onClose }: { user: User; onClose: () => void }) {
  const grantQuota = useGrantQuota();
  const [mode, setMode] = useState<WalletMode>('add');
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [isSent, setSent] = useState(false);
  const change = walletChange(mode, user.quota, amount);
  const error = 'error' in change ? change.error : undefined;
  const isShown = error !== undefined && (isSent || error !== 'empty');

  function send() {
    setSent(true);
    if ('error' in change) return;
    grantQuota.mutate(
      { id: user.id, grant: { ...change.grant, note: walletNote(note) } },
      {
        onSuccess: (changed) => {
          notifySuccess(words.done(user.username, formatUsdExact(changed.quota)));
          onClose();
        },
      },
    );
  }

  return (
    <DialogForm
      submitLabel={words.submit}
      pending={grantQuota.isPending}
      failure={grantQuota.error}
      onSubmit={send}
      onCancel={onClose}
    >
      <SegmentedControl
        fullWidth
        aria-label={words.mode}
        data={modes.map((value) => ({ value, label: words.modes[value] }))}
        value={mode}
        onChange={(value) => setMode(value)}
      />
      <TextInput
        label={words.amount}
        inputMode="decimal"
        leftSection="$"
        autoComplete="off"
        data-autofocus
        error={isShown && errors[error]}
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <TextInput
        label={words.note}
        description={words.noteHint}
        autoComplete="off"
        maxLength={MAX_WALLET_NOTE}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Paper p="md" aria-live="polite">
        {/* Large amounts need two lines on a narrow screen. */}
        <Group gap="xs" justify="space-between">
          <Balance label={words.before} units={user.quota} />
          <IconArrowRight size={20} stroke={1.6} color="var(--mantine-color-dimmed)" />
          <Balance label={words.after} units={'balance' in change ? change.balance : undefined} strong />
        </Group>
      </Paper>
      <Input.Description>{words.concurrentSpend}</Input.Description>
    </DialogForm>
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
        {units === undefined ? '–' : formatUsdExact(units)}
      </Text>
      <Text size="xs" c="dimmed">
        {units === undefined ? '\u00a0' : texts.common.units(formatInteger(units))}
      </Text>
    </Stack>
  );
}
