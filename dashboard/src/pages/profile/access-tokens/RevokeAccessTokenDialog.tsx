import { type AccessToken, useRevokeAccessToken } from '../../../api/accessTokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { useLast } from '../../../shared/useLast';
import { texts } from '../../../texts';

const words = texts.profile.accessTokens;

interface Props {
  /** Asked about while there is one. */
  token: AccessToken | undefined;
  /** The button that led here is gone then: the focus needs another place. */
  onRevoked: () => void;
  onClose: () => void;
}

export function RevokeAccessTokenDialog({ token, onRevoked, onClose }: Props) {
  const revoke = useRevokeAccessToken();
  const shown = useLast(token);

  function confirm() {
    if (!token) return;
    revoke.mutate(token.id, {
      onSuccess: () => {
        onClose();
        onRevoked();
        notifySuccess(words.revoked);
      },
    });
  }

  return (
    <ConfirmDialog
      opened={token !== undefined}
      title={words.revokeTitle(shown?.name ?? '')}
      confirmLabel={words.revoke}
      dangerous
      mutation={revoke}
      onConfirm={confirm}
      onClose={onClose}
    >
      {words.revokeWarning}
    </ConfirmDialog>
  );
}
