import { TagsInput } from '@mantine/core';
import { useModels } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';

const { label, hint } = texts.keys.fields.model_limits;

export function ModelsField({ form }: FieldProps) {
  const models = useModels();
  return (
    <TagsInput
      label={label}
      description={hint}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      data={models.data ?? []}
      splitChars={[',']}
      {...form.getInputProps('model_limits')}
    />
  );
}
