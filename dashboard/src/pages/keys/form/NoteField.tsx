import { Stack, Text, Textarea } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';
import { characters, MAX_NOTE_CHARACTERS } from './validation';

const words = texts.keys.form;
const { label, hint } = texts.keys.fields.note;

export function NoteField({ draft, errors, onChange }: FieldsProps) {
  const used = characters(draft.note.trim());
  return (
    <Stack gap={4}>
      <Textarea
        name="note"
        label={label}
        description={hint}
        autosize
        minRows={2}
        maxRows={8}
        value={draft.note}
        error={errors.note}
        onChange={(event) => onChange({ note: event.currentTarget.value })}
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
