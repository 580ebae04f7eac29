import { Select, Stack, Switch, Text } from '@mantine/core';
import { useUser } from '../../../api/session';
import { useGroups } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import { AUTO } from './draft';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;
const { group: ofGroup, cross_group_retry: ofRetry } = texts.keys.fields;

interface GroupOption {
  label: string;
  hint?: string;
}

export function GroupFields({ draft, onChange }: FieldsProps) {
  const { group: ownGroup } = useUser();
  const groups = useGroups();
  const options = new Map<string, GroupOption>([
    ['', { label: words.ownGroup(ownGroup), hint: words.ownGroupHint }],
    [AUTO, { label: words.autoGroup, hint: words.autoGroupHint }],
  ]);
  for (const [name, { desc, ratio }] of Object.entries(groups.data ?? {})) {
    options.set(name, { label: name, hint: `${desc} · ${words.ratio(String(ratio))}` });
  }
  // The group of the token may no longer be available.
  if (!options.has(draft.group)) options.set(draft.group, { label: draft.group });

  return (
    <Stack gap="sm">
      <Select
        label={ofGroup.label}
        description={groups.isError ? words.groupUnknown : (options.get(draft.group)?.hint ?? ofGroup.hint)}
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
        value={draft.group}
        onChange={(group) => group !== null && onChange({ group })}
      />
      {draft.group === AUTO && (
        <Switch
          label={ofRetry.label}
          description={ofRetry.hint}
          checked={draft.crossGroupRetry}
          onChange={(event) => onChange({ crossGroupRetry: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
