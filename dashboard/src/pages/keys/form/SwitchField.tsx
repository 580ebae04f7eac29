import { Switch } from '@mantine/core';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';
import type { SwitchName } from './fields';

interface Props extends FieldProps {
  name: SwitchName;
}

export function SwitchField({ form, name }: Props) {
  const { label, hint } = texts.keys.fields[name];
  return <Switch label={label} description={hint} {...form.getInputProps(name, { type: 'checkbox' })} />;
}
