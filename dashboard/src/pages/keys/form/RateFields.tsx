import { Fieldset, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { rates } from '../../../api/limits';
import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';

const words = texts.limits;

export function LimitFields({ form, token }: FieldProps) {
  return (
    <Fieldset legend={words.title}>
      <Stack gap="sm">
        <PeriodLimitFields form={form} usage={token?.period_usage} />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {rates.map((rate) => (
            <TextInput
              key={rate}
              label={words.rates[rate]}
              description={rate === 'concurrency' ? words.concurrencyHint : undefined}
              inputWrapperOrder={['label', 'input', 'error', 'description']}
              inputMode="numeric"
              autoComplete="off"
              {...form.getInputProps(`rate_limits.${rate}`)}
            />
          ))}
        </SimpleGrid>
      </Stack>
    </Fieldset>
  );
}
