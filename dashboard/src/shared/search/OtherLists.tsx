import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { isAdministrator, useUser } from '../../api/session';
import { texts } from '../../texts';
import { mayBeSecret } from '../mayBeSecret';
import { handOver } from './handOver';

const lists = {
  own: { href: '/keys', parameter: 'q', label: texts.keys.table },
  all: { href: '/admin/tokens', parameter: 'keyword', label: texts.adminTokens.title },
  users: { href: '/admin/users', parameter: 'keyword', label: texts.adminUsers.title },
};

type ListName = keyof typeof lists;

interface Props {
  /** The list that is shown. */
  current: ListName;
  /** What was searched there. */
  text: string;
}

/** Links for administrators, which search in the other lists for the same text. */
export function OtherLists({ current, text }: Props) {
  const user = useUser();
  const isSecret = mayBeSecret(text);
  if (!isAdministrator(user) || text.trim() === '') return null;
  const isUseful = (name: ListName) => {
    if (name === 'own') return user.token_api_enabled;
    // No name of a user looks like a key.
    return name !== 'users' || !isSecret;
  };
  const others = (Object.keys(lists) as ListName[]).filter((name) => name !== current && isUseful(name));
  return (
    <Group gap="xs" mb="md">
      <Text size="sm" c="dimmed">
        {texts.adminLists.alsoSearch}
      </Text>
      {others.map((name) => {
        const { href, parameter, label } = lists[name];
        const query = isSecret ? '' : `?${new URLSearchParams({ [parameter]: text })}`;
        return (
          <Anchor
            key={name}
            component={Link}
            href={`${href}${query}`}
            size="sm"
            onClick={() => handOver(text)}
          >
            {label}
          </Anchor>
        );
      })}
    </Group>
  );
}
