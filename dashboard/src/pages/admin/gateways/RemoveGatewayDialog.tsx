import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { type Gateway, useRemoveGateway } from '../../../api/adminGateways';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';

const words = texts.adminGateways.removeDialog;

interface Props {
  gateway: Gateway;
  opened: boolean;
  focusAfterRemoval: RefObject<HTMLElement | null>;
  onClose: () => void;
}

export function RemoveGatewayDialog({ gateway, opened, focusAfterRemoval, onClose }: Props) {
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(gateway.name)}
      actionLabel={words.submit}
      mutation={useRemoveGateway()}
      variables={gateway.id}
      successMessage={() => words.done(gateway.name)}
      focusAfterSuccess={focusAfterRemoval}
      onClose={onClose}
    >
      {words.hint}
      <Text mt="sm">{words.kept}</Text>
    </ConfirmDialog>
  );
}
