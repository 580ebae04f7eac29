import { Stack, Text, Textarea } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';
import { characters, MAX_NOTE_CHARACTERS } from './fieldErrors';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.note;

export function NoteField({ form }: FieldProps) {
  const used = characters(form.values.note.trim());
  return (
    <Stack gap={4}>
      <Textarea
        label={label}
        description={hint}
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps('note')}
      />
      <Text
        size="xs"
        ta="right"
        className="tabular"
        c={used > MAX_NOTE_CHARACTERS ? 'var(--km-bad)' : 'dimmed'}
      >
        {words.noteCount(used, MAX_NOTE_CHARACTERS)}
      </Text>
    </Stack>
  );
}
