import { Text } from '@mantine/core';
import { type Credential, type Gateway, useRevokeCredential } from '../../../api/adminGateways';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { WhenText } from '../../../shared/WhenText';
import { texts } from '../../../texts';
import { hintOf } from './hint';

const words = texts.adminGateways.credential;

interface Props {
  gateway: Gateway;
  credential: Credential;
  opened: boolean;
  onClose: () => void;
}

export function RevokeCredentialDialog({ gateway, credential, opened, onClose }: Props) {
  const revoke = useRevokeCredential();
  const hint = hintOf(credential);

  function confirm() {
    revoke.mutate(
      { gateway: gateway.id, credential: credential.id },
      {
        onSuccess: () => {
          notifySuccess(words.done(hint));
          onClose();
        },
      },
    );
  }

  return (
    <ConfirmDialog
      opened={opened}
      title={words.revokeTitle(hint)}
      confirmLabel={words.submit}
      dangerous
      mutation={revoke}
      onConfirm={confirm}
      onClose={onClose}
    >
      {words.revokeHint}
      {credential.last_used_time != null && (
        <Text mt="sm">
          {words.revokeUsed} <WhenText seconds={credential.last_used_time} />.
        </Text>
      )}
    </ConfirmDialog>
  );
}
