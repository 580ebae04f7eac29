import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { type Credential, type Gateway, useRevokeCredential } from '../../../api/adminGateways';
import { joined } from '../../../format/space';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import { hintOf } from './hint';

const words = texts.adminGateways.credential;

interface Props {
  gateway: Gateway;
  credential: Credential;
  opened: boolean;
  focusAfterRevoke: RefObject<HTMLElement | null>;
  onClose: () => void;
}

export function RevokeCredentialDialog({ gateway, credential, opened, focusAfterRevoke, onClose }: Props) {
  const hint = hintOf(credential);
  return (
    <ConfirmDialog
      opened={opened}
      title={words.revokeTitle(hint, gateway.name)}
      actionLabel={words.submit}
      mutation={useRevokeCredential()}
      variables={{ gateway: gateway.id, credential: credential.id }}
      successMessage={() => words.done(hint)}
      focusAfterSuccess={focusAfterRevoke}
      onClose={onClose}
    >
      {joined(gateway.credentials.length > 1 ? words.revokeHint : words.revokeLastHint, words.permanent)}
      {credential.last_used_time != null && (
        <Text mt="sm">
          <RelativeTime label={words.revokeLastUsed} seconds={credential.last_used_time} />
        </Text>
      )}
    </ConfirmDialog>
  );
}
