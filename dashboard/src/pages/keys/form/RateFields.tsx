import { SimpleGrid, TextInput } from '@mantine/core';
import { rates } from '../../../api/limits';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';

const words = texts.limits;

export function RateFields({ form }: FieldProps) {
  return (
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
  );
}
