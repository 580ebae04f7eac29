import { type OwnedToken, useSwitchAnyToken } from '../../../api/adminTokens';
import { notifyFailure } from '../../../shared/notify';
import { TokenSwitch } from '../../../shared/TokenSwitch';
import { texts } from '../../../texts';

export function AdminTokenSwitch({ token }: { token: OwnedToken }) {
  const switchToken = useSwitchAnyToken();
  return (
    <TokenSwitch
      aria-label={texts.adminTokens.switch(token.name)}
      token={token}
      onSwitch={(on) => switchToken.mutate({ token, on }, { onError: notifyFailure })}
    />
  );
}
