import type { SwitchProps } from '@mantine/core';
import type { OwnedToken } from '../../../api/adminTokens';
import { TokenSwitch } from '../../../shared/TokenSwitch';
import { useSwitchAnyKey } from './useSwitchAnyKey';

interface Props extends Pick<SwitchProps, 'label' | 'labelPosition' | 'aria-label'> {
  token: OwnedToken;
}

export function AdminTokenSwitch({ token, ...props }: Props) {
  const { setSwitch } = useSwitchAnyKey();
  return <TokenSwitch {...props} token={token} onSwitch={(on) => setSwitch(token, on)} />;
}
