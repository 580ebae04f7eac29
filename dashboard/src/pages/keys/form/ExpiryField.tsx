import { Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { dateTimeInput, MAX_DATE_TIME, parseDateTime } from '../../../format/dateTimeInput';
import { formatDateTime, isTime } from '../../../format/time';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { type Expiry, type ExpiryChoice, expiredTime, expiryChoices } from './expiry';

const words = texts.keys.form;

const choices = expiryChoices.map((choice) => ({ value: choice, label: words.expiryChoices[choice] }));

export function ExpiryField({ form }: { form: UseFormReturnType<{ expired_time: Expiry }> }) {
  const expiry = form.values.expired_time;
  const now = useNow();
  const end = expiredTime(expiry, now);
  const outcome = isTime(end) ? words.expiryEnds(formatDateTime(end)) : undefined;
  return (
    <Stack gap="sm">
      <Select
        label={texts.keys.fields.expired_time.label}
        data={choices}
        allowDeselect={false}
        description={expiry.choice === 'at' ? undefined : outcome}
        inputWrapperOrder={['label', 'input', 'description']}
        value={expiry.choice}
        onChange={(choice: ExpiryChoice | null) =>
          choice && form.setFieldValue('expired_time', { ...expiry, choice })
        }
      />
      {expiry.choice === 'at' && (
        <TextInput
          type="datetime-local"
          max={MAX_DATE_TIME}
          label={words.expiresAt}
          description={end !== undefined && end <= now ? words.expiryPassed : outcome}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          withAsterisk
          {...form.getInputProps('expired_time')}
          value={dateTimeInput(expiry.at)}
          onChange={(event) =>
            form.setFieldValue('expired_time', { ...expiry, at: parseDateTime(event.currentTarget.value) })
          }
        />
      )}
    </Stack>
  );
}
