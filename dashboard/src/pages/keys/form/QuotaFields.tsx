import { SegmentedControl, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useUser } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatUsd, formatUsdExact, parseUsd } from '../../../format/money';
import { texts } from '../../../texts';
import { type Draft, type QuotaMode, quotaDraft } from './draft';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;
const { remain_quota: ofQuota, unlimited_quota: ofUnlimited } = texts.keys.fields;
const modes: QuotaMode[] = ['add', 'take', 'set'];

interface Props extends FieldsProps {
  /** Quota units. */
  usedBefore: number;
  /** The token exists, so its quota is changed and not only set. */
  exists: boolean;
}

export function QuotaFields({ draft, errors, onChange, usedBefore, exists }: Props) {
  const { quota: wallet } = useUser();
  const after = quotaAfter(draft);
  return (
    <Stack gap="sm">
      {!draft.unlimited && (
        <>
          {exists && (
            <SegmentedControl<QuotaMode>
              aria-label={words.quotaMode}
              data={modes.map((value) => ({ value, label: words.quotaModes[value] }))}
              value={draft.quotaMode}
              onChange={(mode) => onChange(quotaDraft(mode, draft.held))}
            />
          )}
          <TextInput
            name="usd"
            label={draft.quotaMode === 'set' ? quotaLabel(usedBefore) : words.quotaAmount}
            description={inUnits(draft.usd, usedBefore)}
            inputWrapperOrder={['label', 'input', 'error', 'description']}
            withAsterisk={draft.quotaMode === 'set'}
            inputMode="decimal"
            autoComplete="off"
            leftSection="$"
            value={draft.usd}
            error={errors.usd}
            onChange={(event) => onChange({ usd: event.currentTarget.value })}
          />
          {exists && (
            <Text size="sm" c="dimmed">
              {draft.quotaMode === 'set'
                ? words.quotaSet(formatUsdExact(draft.held))
                : words.quotaAfter(
                    formatUsdExact(draft.held),
                    after === undefined || after < 0 ? '–' : formatUsdExact(after),
                  )}
            </Text>
          )}
          {after !== undefined && after > wallet && (
            <Text size="sm" c="var(--km-warn)" role="status">
              {words.moreThanWallet(formatUsdExact(wallet))}
            </Text>
          )}
        </>
      )}
      <Switch
        label={ofUnlimited.label}
        description={ofUnlimited.hint}
        checked={draft.unlimited}
        onChange={(event) => onChange({ unlimited: event.currentTarget.checked })}
      />
    </Stack>
  );
}

function quotaLabel(usedBefore: number): string {
  return usedBefore > 0 ? words.quotaLeft : ofQuota.label;
}

/** What would be left if nothing is spent meanwhile. Undefined for an amount that is not valid. */
function quotaAfter({ quotaMode, usd, held }: Draft): number | undefined {
  const parsed = parseUsd(usd);
  const units = 'units' in parsed ? parsed.units : parsed.error === 'empty' ? 0 : undefined;
  if (units === undefined) return undefined;
  if (quotaMode === 'set') return units;
  return quotaMode === 'take' ? held - units : held + units;
}

function inUnits(typed: string, usedBefore: number): string {
  const parsed = parseUsd(typed);
  const units =
    'units' in parsed
      ? words.quotaUnits(formatUsdExact(parsed.units), formatInteger(parsed.units))
      : ofQuota.hint;
  return usedBefore > 0 ? `${units} · ${words.quotaUsed(formatUsd(usedBefore))}` : units;
}
