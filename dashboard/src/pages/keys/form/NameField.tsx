import { Text, TextInput } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';
import { characters, MAX_NAME_CHARACTERS } from './fieldErrors';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.name;

export function NameField({ form }: FieldProps) {
  const used = characters(form.values.name.trim());
  return (
    <TextInput
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
      {...form.getInputProps('name')}
    />
  );
}
