import { Button, Group, Stack, Text } from '@mantine/core';
import type { Credential, Gateway } from '../../../api/adminGateways';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import classes from './CredentialList.module.css';
import { hintOf } from './hint';

const words = texts.adminGateways.credential;

interface Props {
  gateway: Gateway;
  onRevoke: (credential: Credential) => void;
}

/** The credentials of a gateway, newest first. */
export function CredentialList({ gateway, onRevoke }: Props) {
  if (gateway.credentials.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.none}
      </Text>
    );
  }
  return (
    <Stack component="ul" gap={6} className={classes.list}>
      {gateway.credentials.map((credential) => (
        <Group component="li" key={credential.id} gap="xs" justify="space-between">
          <div className={classes.credential}>
            <Text ff="monospace" size="sm">
              {hintOf(credential)}
            </Text>
            <Text size="xs" c="dimmed">
              <RelativeTime label={words.created} seconds={credential.created_time} /> ·{' '}
              <LastUse credential={credential} />
            </Text>
          </div>
          <Button
            variant="subtle"
            color="red"
            size="compact-sm"
            flex="none"
            aria-label={words.revokeLabel(hintOf(credential), gateway.name)}
            onClick={() => onRevoke(credential)}
          >
            {words.revoke}
          </Button>
        </Group>
      ))}
    </Stack>
  );
}

function LastUse({ credential }: { credential: Credential }) {
  if (credential.last_used_time == null) return words.neverUsed;
  return <RelativeTime label={words.lastUsed} seconds={credential.last_used_time} />;
}
