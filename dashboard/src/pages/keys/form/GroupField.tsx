import { Select, Text } from '@mantine/core';
import { useGroups } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import { AUTO } from '../groupName';
import type { FieldProps } from './FieldProps';
import { useOtherOwner, useOwner } from './owner';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.group;

interface GroupOption {
  label: string;
  hint?: string;
}

export function GroupField({ form }: FieldProps) {
  const { group } = form.values;
  const { group: ownersGroup } = useOwner();
  const other = useOtherOwner();
  const groups = useGroups(other?.group);
  const { ownGroup, ownGroupHint } = other ? words.ofOther : words;
  const options = new Map<string, GroupOption>([
    ['', { label: ownGroup(ownersGroup), hint: ownGroupHint }],
    [AUTO, { label: words.autoGroup, hint: words.autoGroupHint }],
  ]);
  for (const [name, { desc, ratio }] of Object.entries(groups.data ?? {})) {
    options.set(name, { label: name, hint: `${desc} · ${words.ratio(String(ratio))}` });
  }
  // The group of the token may no longer be available.
  if (!options.has(group)) options.set(group, { label: group });

  return (
    <Select
      label={label}
      description={groups.isError ? words.groupUnknown : (options.get(group)?.hint ?? hint)}
      inputWrapperOrder={['label', 'input', 'description']}
      data={[...options].map(([value, { label }]) => ({ value, label }))}
      allowDeselect={false}
      renderOption={({ option, checked }) => (
        <div>
          <Text size="sm" fw={checked ? 600 : undefined}>
            {option.label}
          </Text>
          <Text size="xs" c="dimmed">
            {options.get(option.value)?.hint}
          </Text>
        </div>
      )}
      {...form.getInputProps('group')}
    />
  );
}
