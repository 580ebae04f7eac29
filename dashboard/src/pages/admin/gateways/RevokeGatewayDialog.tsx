import { Text } from '@mantine/core';
import { type Gateway, useRevokeGateway } from '../../../api/adminGateways';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';

const words = texts.adminGateways.revokeDialog;

interface Props {
  gateway: Gateway;
  opened: boolean;
  onClose: () => void;
}

export function RevokeGatewayDialog({ gateway, opened, onClose }: Props) {
  const revoke = useRevokeGateway();

  function confirm() {
    revoke.mutate(gateway.id, {
      onSuccess: () => {
        notifySuccess(words.done(gateway.name));
        onClose();
      },
    });
  }

  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(gateway.name)}
      confirmLabel={words.submit}
      dangerous
      mutation={revoke}
      onConfirm={confirm}
      onClose={onClose}
    >
      {words.hint}
      <Text mt="sm">{words.kept}</Text>
    </ConfirmDialog>
  );
}
