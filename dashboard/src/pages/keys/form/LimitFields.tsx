import { Fieldset, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type PeriodUsage, rates } from '../../../api/limits';
import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const words = texts.limits;

interface Props extends FieldsProps {
  /** Absent for a new token. */
  usage: PeriodUsage | undefined;
}

export function LimitFields({ draft, errors, usage, onChange }: Props) {
  const { periodLimits, rateLimits } = draft;
  return (
    <Fieldset legend={words.title}>
      <Stack gap="sm">
        <PeriodLimitFields
          draft={periodLimits}
          errors={errors}
          usage={usage}
          onChange={(changed) => onChange({ periodLimits: changed })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          {rates.map((rate) => (
            <TextInput
              key={rate}
              name={rate}
              label={words.rates[rate]}
              description={rate === 'concurrency' ? words.concurrencyHint : undefined}
              inputWrapperOrder={['label', 'input', 'error', 'description']}
              inputMode="numeric"
              autoComplete="off"
              value={rateLimits[rate]}
              error={errors[rate]}
              onChange={(event) =>
                onChange({ rateLimits: { ...rateLimits, [rate]: event.currentTarget.value } })
              }
            />
          ))}
        </SimpleGrid>
      </Stack>
    </Fieldset>
  );
}
