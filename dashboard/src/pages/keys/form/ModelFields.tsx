import { Stack, Switch, TagsInput } from '@mantine/core';
import { useModels } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import type { FieldsProps } from './FieldsProps';

const { model_limits_enabled: ofSwitch, model_limits: ofModels } = texts.keys.fields;

export function ModelFields({ draft, errors, onChange }: FieldsProps) {
  const models = useModels();
  return (
    <Stack gap="sm">
      <Switch
        label={ofSwitch.label}
        description={ofSwitch.hint}
        checked={draft.limitModels}
        onChange={(event) => onChange({ limitModels: event.currentTarget.checked })}
      />
      {draft.limitModels && (
        <TagsInput
          name="models"
          label={ofModels.label}
          description={ofModels.hint}
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
