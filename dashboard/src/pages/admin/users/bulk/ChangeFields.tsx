import { Group, Radio, Select, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useSettings } from '../../../../api/adminSettings';
import { LimitChangeFields } from '../../../../shared/limits/LimitChangeFields';
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
      {action === 'limits' && <LimitChangeFields hint={words.limitsHint} form={form} />}
      {action === 'group' && <GroupField form={form} />}
      {action === 'disable' && <Text size="sm">{texts.adminUsers.disableDialog.hint}</Text>}
    </>
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
