import { useGroups } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import type { FieldProps } from './FieldProps';
import { GroupInput } from './GroupInput';
import { useOtherOwner, useOwner } from './owner';

const words = texts.keys.form;

export function GroupField({ form }: FieldProps) {
  const { group } = useOwner();
  const other = useOtherOwner();
  const groups = useGroups(other?.group);
  const { ownGroup, ownGroupHint } = other ? words.ofOther : words;
  const own = { label: ownGroup(group), hint: ownGroupHint };
  return <GroupInput own={own} groups={groups} {...form.getInputProps('group')} />;
}
