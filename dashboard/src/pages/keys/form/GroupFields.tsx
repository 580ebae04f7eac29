import { Select, Stack, Switch, Text } from '@mantine/core';
import { useUser } from '../../../api/session';
import { useGroups } from '../../../api/tokenChoices';
import { texts } from '../../../texts';
import { AUTO } from './draft';
import type { FieldsProps } from './fields';

const words = texts.keys.form;

interface Choice {
  label: string;
  hint?: string;
}

export function GroupFields({ draft, onChange }: FieldsProps) {
  const { group: ownGroup } = useUser();
  const groups = useGroups();
  const choices = new Map<string, Choice>([
    ['', { label: words.ownGroup(ownGroup), hint: words.ownGroupHint }],
    [AUTO, { label: words.autoGroup, hint: words.autoGroupHint }],
  ]);
  for (const [name, { desc, ratio }] of Object.entries(groups.data ?? {})) {
    choices.set(name, { label: name, hint: `${desc} · ${words.ratio(String(ratio))}` });
  }
  // A token may be in a group that is closed by now.
  if (!choices.has(draft.group)) choices.set(draft.group, { label: draft.group });

  return (
    <Stack gap="sm">
      <Select
        label={words.group}
        description={
          groups.isError ? words.groupUnknown : (choices.get(draft.group)?.hint ?? words.groupHint)
        }
        inputWrapperOrder={['label', 'input', 'description']}
        data={[...choices].map(([value, { label }]) => ({ value, label }))}
        allowDeselect={false}
        renderOption={({ option, checked }) => (
          <div>
            <Text size="sm" fw={checked ? 600 : undefined}>
              {option.label}
            </Text>
            <Text size="xs" c="dimmed">
              {choices.get(option.value)?.hint}
            </Text>
          </div>
        )}
        value={draft.group}
        onChange={(group) => group !== null && onChange({ group })}
      />
      {draft.group === AUTO && (
        <Switch
          label={words.crossGroupRetry}
          description={words.crossGroupRetryHint}
          checked={draft.crossGroupRetry}
          onChange={(event) => onChange({ crossGroupRetry: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
