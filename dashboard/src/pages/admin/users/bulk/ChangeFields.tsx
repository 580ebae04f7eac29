import { Checkbox, Group, Radio, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useSettings } from '../../../../api/adminSettings';
import { periods } from '../../../../api/limits';
import { texts } from '../../../../texts';
import { WalletNoteField } from '../WalletNoteField';
import { type BulkAction, type BulkForm, bulkActions } from './bulkForm';

const words = texts.adminBulk;

interface Props {
  form: UseFormReturnType<BulkForm>;
}

/** What to change, and how. */
export function ChangeFields({ form }: Props) {
  const { action } = form.values;
  return (
    <>
      <Radio.Group
        label={words.action}
        value={action}
        onChange={(chosen) => form.setFieldValue('action', chosen as BulkAction)}
      >
        <Group mt="xs">
          {bulkActions.map((each) => (
            <Radio key={each} value={each} label={words.actions[each]} />
          ))}
        </Group>
      </Radio.Group>
      {action === 'top_up' && (
        <>
          <TextInput
            label={words.amount}
            inputMode="decimal"
            leftSection="$"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <WalletNoteField {...form.getInputProps('note')} />
        </>
      )}
      {action === 'limits' && <LimitFields form={form} />}
      {action === 'group' && <GroupField form={form} />}
      {action === 'disable' && <Text size="sm">{texts.adminUsers.disableDialog.hint}</Text>}
    </>
  );
}

function LimitFields({ form }: Props) {
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {words.limitsHint}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        {periods.map((period) => (
          <Stack key={period} gap="xs">
            <TextInput
              label={texts.limits.periods[period]}
              inputMode="decimal"
              autoComplete="off"
              leftSection="$"
              data-autofocus={period === 'day' || undefined}
              {...form.getInputProps(`limits.${period}`)}
              disabled={form.values.removed[period]}
            />
            <Checkbox
              label={words.noLimit[period]}
              {...form.getInputProps(`removed.${period}`, { type: 'checkbox' })}
            />
          </Stack>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

function GroupField({ form }: Props) {
  const { data, isError } = useSettings();
  return (
    <Select
      label={texts.adminUsers.fields.group}
      description={isError ? texts.keys.form.groupUnknown : undefined}
      allowDeselect={false}
      data={data?.groups.map(({ name }) => name) ?? []}
      {...form.getInputProps('group')}
      value={form.values.group || null}
    />
  );
}
