import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from 'wouter';
import { Name } from '../../../shared/Name';
import { texts } from '../../../texts';

interface Props extends AnchorProps {
  id: number | null | undefined;
  /** Replaced by the ID if it is absent. */
  name: string | null | undefined;
}

export const userHref = (id: number) => `/admin/users/${id}`;
export const tokenHref = (id: number) => `/admin/tokens/${id}`;

/** A username with a link to the page of the user. */
export function UserLink({ id, name, ...props }: Props) {
  if (id == null) return name && <Name>{name}</Name>;
  return (
    <Anchor component={Link} href={userHref(id)} size="sm" {...props}>
      <Name>{name || texts.adminLists.userNumber(id)}</Name>
    </Anchor>
  );
}

/** The name of a key with a link to the administrators' page of the key. */
export function TokenLink({ id, name, ...props }: Props) {
  if (id == null) return name && <Name>{name}</Name>;
  return (
    <Anchor component={Link} href={tokenHref(id)} size="sm" {...props}>
      <Name>{name || texts.adminLists.keyNumber(id)}</Name>
    </Anchor>
  );
}
