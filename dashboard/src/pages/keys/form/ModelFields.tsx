import { Stack, Switch, TagsInput } from '@mantine/core';
import { useModels } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const words = texts.keys.form;

export function ModelFields({ draft, errors, onChange }: FieldsProps) {
  const models = useModels();
  return (
    <Stack gap="sm">
      <Switch
        label={words.limitModels}
        description={words.limitModelsHint}
        checked={draft.limitModels}
        onChange={(event) => onChange({ limitModels: event.currentTarget.checked })}
      />
      {draft.limitModels && (
        <TagsInput
          name="models"
          label={words.models}
          description={words.modelsHint}
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          data={models.data ?? []}
          splitChars={[',']}
          value={draft.models}
          error={errors.models}
          onChange={(names) => onChange({ models: names })}
        />
      )}
    </Stack>
  );
}
