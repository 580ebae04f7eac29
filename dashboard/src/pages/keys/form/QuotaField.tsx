import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { formatInteger } from '../../../format/locale';
import { formatUsd, formatUsdExact } from '../../../format/money';
import { parseUsd } from '../../../format/typed';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';
import { useOtherOwner, useOwner } from './owner';
import { hasTotal, type Quota, type QuotaMode, quotaDraft } from './quota';

const words = texts.keys.form;
const { hint } = texts.keys.fields.remain_quota;
const modes: QuotaMode[] = ['add', 'take', 'set'];

export function QuotaField({ form, token }: FieldProps) {
  const { quota: wallet } = useOwner();
  const { moreThanWallet } = useOtherOwner() ? words.ofOther : words;
  const quota = form.values.remain_quota;
  const { mode, usd, before } = quota;
  const after = quotaAfter(quota);
  const usedBefore = token?.used_quota ?? 0;
  const hadTotal = token?.unlimited_quota === false;
  return (
    <Stack gap="sm">
      {hadTotal && (
        <SegmentedControl<QuotaMode>
          aria-label={words.quotaMode}
          data={modes.map((value) => ({ value, label: words.quotaModes[value] }))}
          value={mode}
          onChange={(value) => form.setFieldValue('remain_quota', quotaDraft(value, before))}
        />
      )}
      <TextInput
        label={mode === 'set' ? quotaLabel(usedBefore) : words.quotaAmount}
        description={inUnits(usd, usedBefore)}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        inputMode="decimal"
        autoComplete="off"
        leftSection="$"
        {...form.getInputProps('remain_quota')}
        value={usd}
        onChange={(event) => form.setFieldValue('remain_quota', { ...quota, usd: event.currentTarget.value })}
      />
      {hadTotal && (
        <Text size="sm" c="dimmed">
          {quotaNow(quota)}
        </Text>
      )}
      {!hasTotal(quota) && Object.values(form.values.period_limits).some((typed) => typed.trim() !== '') && (
        <Text size="sm" c="dimmed" role="status">
          {words.onlyPeriods}
        </Text>
      )}
      {after === 0 && (
        <Text size="sm" c="var(--km-warn)" role="status">
          {words.nothingLeft}
        </Text>
      )}
      {after !== undefined && after > wallet && (
        <Text size="sm" c="var(--km-warn)" role="status">
          {moreThanWallet(formatUsdExact(wallet))}
        </Text>
      )}
    </Stack>
  );
}

/** What is left now, and what the typed amount changes. */
function quotaNow(quota: Quota): string {
  const { mode, usd, before } = quota;
  const left = formatUsdExact(before);
  if (mode === 'set') return words.quotaSet(left);
  const after = quotaAfter(quota);
  if (usd.trim() === '') return words.quotaBefore(left);
  return words.quotaAfter(left, after === undefined || after < 0 ? '–' : formatUsdExact(after));
}

function quotaLabel(usedBefore: number): string {
  return usedBefore > 0 ? words.quotaLeft : words.total;
}

/** What would be left if nothing is spent meanwhile. Undefined without a limit, or for an amount that is not valid. */
function quotaAfter(quota: Quota): number | undefined {
  if (!hasTotal(quota)) return undefined;
  const { mode, usd, before } = quota;
  const parsed = parseUsd(usd);
  const units = 'units' in parsed ? parsed.units : parsed.error === 'empty' ? 0 : undefined;
  if (units === undefined) return undefined;
  if (mode === 'set') return units;
  return mode === 'take' ? before - units : before + units;
}

function inUnits(typed: string, usedBefore: number): string {
  const parsed = parseUsd(typed);
  const units =
    'units' in parsed ? words.quotaUnits(formatUsdExact(parsed.units), formatInteger(parsed.units)) : hint;
  return usedBefore > 0 ? `${units} · ${words.quotaUsed(formatUsd(usedBefore))}` : units;
}
