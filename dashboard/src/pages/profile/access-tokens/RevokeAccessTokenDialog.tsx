import type { RefObject } from 'react';
import { type AccessToken, useRevokeAccessToken } from '../../../api/accessTokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';

const words = texts.profile.accessTokens;

interface Props {
  token: AccessToken;
  opened: boolean;
  focusAfterRevoke: RefObject<HTMLElement | null>;
  onClose: () => void;
}

export function RevokeAccessTokenDialog({ token, opened, focusAfterRevoke, onClose }: Props) {
  return (
    <ConfirmDialog
      opened={opened}
      title={words.revokeTitle(token.name)}
      actionLabel={words.revoke}
      mutation={useRevokeAccessToken()}
      variables={token.id}
      successMessage={() => words.revoked(token.name)}
      focusAfterSuccess={focusAfterRevoke}
      onClose={onClose}
    >
      {words.revokeWarning}
    </ConfirmDialog>
  );
}
