import { Text, TextInput } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';
import { characters, MAX_NAME_CHARACTERS } from './validation';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.name;

export function NameField({ draft, errors, onChange }: FieldsProps) {
  const used = characters(draft.name.trim());
  return (
    <TextInput
      name="name"
      label={label}
      description={hint}
      withAsterisk
      data-autofocus
      autoComplete="off"
      rightSectionWidth={64}
      rightSection={
        <Text size="xs" className="tabular" c={used > MAX_NAME_CHARACTERS ? 'var(--km-bad)' : 'dimmed'}>
          {words.nameCount(used, MAX_NAME_CHARACTERS)}
        </Text>
      }
      value={draft.name}
      error={errors.name}
      onChange={(event) => onChange({ name: event.currentTarget.value })}
    />
  );
}
