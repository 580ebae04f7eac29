import { Switch } from '@mantine/core';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import type { FieldProps } from './FieldProps';
import type { SwitchName } from './fields';
import { useOtherOwner } from './owner';

interface Props extends FieldProps {
  name: SwitchName;
}

export function SwitchField({ form, name }: Props) {
  const { label, hint } = texts.keys.fields[name];
  const ofOther = useOtherOwner() && textOf(texts.keys.form.ofOther.hints, name);
  return (
    <Switch label={label} description={ofOther ?? hint} {...form.getInputProps(name, { type: 'checkbox' })} />
  );
}
