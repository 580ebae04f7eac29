import { Switch } from '@mantine/core';
import { useSwitchAnyonesToken } from '../../../api/adminTokens';
import { isSwitchedOn } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { notifyFailure } from '../../../shared/notify';
import { texts } from '../../../texts';

export function TokenSwitch({ token }: { token: Token }) {
  const switchToken = useSwitchAnyonesToken();
  return (
    <Switch
      aria-label={texts.adminTokens.switch(token.name)}
      checked={isSwitchedOn(token)}
      onChange={(event) =>
        switchToken.mutate({ token, on: event.currentTarget.checked }, { onError: notifyFailure })
      }
    />
  );
}
