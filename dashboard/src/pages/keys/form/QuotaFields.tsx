import { Stack, Switch, Text, TextInput } from '@mantine/core';
import { useUser } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatSpent, formatUsd, formatUsdExact, parseUsd } from '../../../format/money';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;

interface Props extends FieldsProps {
  /** Quota units. */
  usedBefore: number;
}

export function QuotaFields({ draft, errors, onChange, usedBefore }: Props) {
  const { quota: wallet } = useUser();
  const parsed = parseUsd(draft.usd);
  const isMoreThanWallet = !draft.unlimited && 'units' in parsed && parsed.units > wallet;
  return (
    <Stack gap="sm">
      {!draft.unlimited && (
        <TextInput
          name="usd"
          label={usedBefore > 0 ? words.quotaLeft : words.quota}
          description={inUnits(draft.usd, usedBefore)}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          withAsterisk
          inputMode="decimal"
          autoComplete="off"
          leftSection="$"
          value={draft.usd}
          error={errors.usd}
          onChange={(event) => onChange({ usd: event.currentTarget.value })}
        />
      )}
      {isMoreThanWallet && (
        <Text size="sm" c="var(--km-warn)" role="status">
          {words.moreThanWallet(formatUsd(wallet))}
        </Text>
      )}
      <Switch
        label={words.unlimited}
        description={words.unlimitedHint}
        checked={draft.unlimited}
        onChange={(event) => onChange({ unlimited: event.currentTarget.checked })}
      />
    </Stack>
  );
}

function inUnits(typed: string, usedBefore: number): string {
  const parsed = parseUsd(typed);
  const units =
    'units' in parsed
      ? words.quotaUnits(formatUsdExact(parsed.units), formatInteger(parsed.units))
      : words.quotaHint;
  return usedBefore > 0 ? `${units} · ${words.quotaUsed(formatSpent(usedBefore))}` : units;
}
