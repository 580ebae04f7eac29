import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from 'wouter';
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
  if (id == null) return name;
  return (
    <Anchor component={Link} href={userHref(id)} size="sm" {...props}>
      {name || texts.adminLists.userNumber(id)}
    </Anchor>
  );
}

/** The name of a key with a link to the administrators' page of the key. */
export function TokenLink({ id, name, ...props }: Props) {
  if (id == null) return name;
  return (
    <Anchor component={Link} href={tokenHref(id)} size="sm" {...props}>
      {name || texts.adminLists.keyNumber(id)}
    </Anchor>
  );
}
