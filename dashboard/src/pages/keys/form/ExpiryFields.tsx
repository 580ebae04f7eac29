import { Select, Stack, TextInput } from '@mantine/core';
import { formatDateTime } from '../../../format/time';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import {
  dateTimeInput,
  type Expiry,
  type ExpiryChoice,
  expiredTime,
  expiryChoices,
  parseDateTime,
} from './expiry';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;

const choices = expiryChoices.map((choice) => ({ value: choice, label: words.expiryChoices[choice] }));

export function ExpiryFields({ draft: { expiry }, errors, onChange }: FieldsProps) {
  const now = useNow();
  const end = expiredTime(expiry, now);
  const change = (changes: Partial<Expiry>) => onChange({ expiry: { ...expiry, ...changes } });
  const outcome = end !== undefined && end > 0 ? words.expiryEnds(formatDateTime(end)) : undefined;
  return (
    <Stack gap="sm">
      <Select
        label={texts.keys.fields.expired_time.label}
        data={choices}
        allowDeselect={false}
        description={expiry.choice === 'at' ? undefined : outcome}
        inputWrapperOrder={['label', 'input', 'description']}
        value={expiry.choice}
        onChange={(choice: ExpiryChoice | null) => choice && change({ choice })}
      />
      {expiry.choice === 'at' && (
        <TextInput
          type="datetime-local"
          name="expiresAt"
          label={words.expiresAt}
          description={end !== undefined && end <= now ? words.expiryPassed : outcome}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          withAsterisk
          value={dateTimeInput(expiry.at)}
          error={errors.expiresAt}
          onChange={(event) => change({ at: parseDateTime(event.currentTarget.value) })}
        />
      )}
    </Stack>
  );
}
