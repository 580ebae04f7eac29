import { type AccessToken, useRevokeAccessToken } from '../../../api/accessTokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { useLast } from '../../../shared/useLast';
import { texts } from '../../../texts';

const words = texts.profile.accessTokens;

export function RevokeAccessTokenDialog({
  token,
  onClose,
}: {
  token: AccessToken | undefined;
  onClose: () => void;
}) {
  const revoke = useRevokeAccessToken();
  const shown = useLast(token);

  function close() {
    revoke.reset();
    onClose();
  }

  function confirm() {
    if (!token) return;
    revoke.mutate(token.id, {
      onSuccess: () => {
        close();
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
      pending={revoke.isPending}
      failure={revoke.error}
      onConfirm={confirm}
      onClose={close}
    >
      {words.revokeWarning}
    </ConfirmDialog>
  );
}
