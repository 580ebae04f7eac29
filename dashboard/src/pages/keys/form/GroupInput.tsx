import { Select, type SelectProps, Text } from '@mantine/core';
import type { Group } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import { AUTO } from '../groupName';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.group;

interface GroupOption {
  label: string;
  hint?: string;
}

interface Props extends Omit<SelectProps, 'data'> {
  /** The choice of no group, which means that of the owner. */
  own: GroupOption;
  groups: { data?: Record<string, Group>; isError: boolean };
}

/** Chooses the group of a key. Without a value, none is chosen yet. */
export function GroupInput({ own, groups, ...props }: Props) {
  const options = new Map<string, GroupOption>([
    ['', own],
    [AUTO, { label: words.autoGroup, hint: words.autoGroupHint }],
  ]);
  for (const [name, { desc, ratio }] of Object.entries(groups.data ?? {})) {
    options.set(name, { label: name, hint: `${desc} · ${words.ratio(String(ratio))}` });
  }
  const { value } = props;
  // The group of the token may no longer be available.
  if (value != null && !options.has(value)) options.set(value, { label: value });

  return (
    <Select
      label={label}
      description={
        groups.isError ? words.groupUnknown : ((value == null ? undefined : options.get(value)?.hint) ?? hint)
      }
      inputWrapperOrder={['label', 'input', 'error', 'description']}
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
      {...props}
    />
  );
}
