import { Select, type SelectProps } from '@mantine/core';
import { useSettings } from '../../../api/adminSettings';
import { texts } from '../../../texts';
import { groupOptions } from './groupOptions';

const words = texts.adminUsers.fields;

interface Props extends Omit<SelectProps, 'data'> {
  /** The group of the account to edit. Absent for a new account, which may get the default. */
  present?: string;
}

/** The groups of the settings: the server refuses others. */
export function GroupSelect({ present, ...props }: Props) {
  const { data, isError } = useSettings();
  return (
    <Select
      label={words.group}
      description={isError ? texts.keys.form.groupUnknown : undefined}
      allowDeselect={false}
      data={groupOptions(data, present)}
      {...props}
    />
  );
}
