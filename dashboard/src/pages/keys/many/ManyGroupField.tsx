import type { SelectProps } from '@mantine/core';
import { useSettings } from '../../../api/adminSettings';
import type { Scope } from '../../../api/manyTokens';
import { useUser } from '../../../api/session';
import { groupsByName, useGroups } from '../../../api/tokenOptions';
import { texts } from '../../../texts';
import { GroupInput } from '../form/GroupInput';

const words = texts.keys.form;

type Props = Omit<SelectProps, 'data'>;

/** The groups that the chosen keys can have. */
export function ManyGroupField({ scope, ...props }: Props & { scope: Scope }) {
  return scope === 'own' ? <OwnGroups {...props} /> : <AnyGroups {...props} />;
}

function OwnGroups(props: Props) {
  const { group } = useUser();
  const own = { label: words.ownGroup(group), hint: words.ownGroupHint };
  return <GroupInput own={own} groups={useGroups()} {...props} />;
}

/** All groups: the server refuses for owners who cannot use one. */
function AnyGroups(props: Props) {
  const { data, isError } = useSettings();
  const own = { label: texts.keys.many.ownersGroup, hint: words.ofOther.ownGroupHint };
  return <GroupInput own={own} groups={{ data: groupsByName(data?.groups ?? []), isError }} {...props} />;
}
