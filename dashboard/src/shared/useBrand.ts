import { useStatus } from '../api/status';
import { texts } from '../texts';

export interface Brand {
  /** The name of this installation. */
  name: string;
  /** The address of its own logo. Empty if it has none. */
  logo: string;
}

/** `undefined` until the server has answered, so that no other name flashes up. */
export function useBrand(): Brand | undefined {
  const { data, isPending } = useStatus();
  if (isPending) return undefined;
  return { name: data?.system_name || texts.common.appName, logo: data?.logo ?? '' };
}
