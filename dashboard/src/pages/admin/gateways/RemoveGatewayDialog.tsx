import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { type Gateway, useRevokeGateway } from '../../../api/adminGateways';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';

const words = texts.adminGateways.revokeDialog;

interface Props {
  gateway: Gateway;
  opened: boolean;
  focusAfterRevoke: RefObject<HTMLElement | null>;
  onClose: () => void;
}

export function RevokeGatewayDialog({ gateway, opened, focusAfterRevoke, onClose }: Props) {
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(gateway.name)}
      actionLabel={words.submit}
      mutation={useRevokeGateway()}
      variables={gateway.id}
      successMessage={() => words.done(gateway.name)}
      focusAfterSuccess={focusAfterRevoke}
      onClose={onClose}
    >
      {words.hint}
      <Text mt="sm">{words.kept}</Text>
    </ConfirmDialog>
  );
}
