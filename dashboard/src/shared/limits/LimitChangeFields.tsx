import { Checkbox, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { periods } from '../../api/limits';
import { texts } from '../../texts';
import type { LimitChange } from './limitChange';

const words = texts.limits;

interface Props {
  hint: string;
  form: UseFormReturnType<LimitChange>;
}

/** Changes the limits of many. What stays empty is not changed. */
export function LimitChangeFields({ hint, form }: Props) {
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        {periods.map((period) => (
          <Stack key={period} gap="xs">
            <TextInput
              label={words.periods[period]}
              inputMode="decimal"
              autoComplete="off"
              leftSection="$"
              data-autofocus={period === 'day' || undefined}
              {...form.getInputProps(`limits.${period}`)}
              disabled={form.values.removed[period]}
            />
            <Checkbox
              label={words.change.remove[period]}
              {...form.getInputProps(`removed.${period}`, { type: 'checkbox' })}
            />
          </Stack>
        ))}
      </SimpleGrid>
    </Stack>
  );
}
