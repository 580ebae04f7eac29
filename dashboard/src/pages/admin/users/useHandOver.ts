import { useSettings } from '../../../api/adminSettings';
import { texts } from '../../../texts';
import { serviceAddress } from './serviceAddress';

const words = texts.adminUsers.handOver;

export interface Account {
  username: string;
  password: string;
}

/** What somebody needs to sign in, to be copied at once and shown once. */
export function useHandOver() {
  const { data: settings } = useSettings();
  const address = serviceAddress(settings, window.location.origin);
  return (account: Account | undefined) => ({
    title: words.title(account?.username ?? ''),
    hint: words.hint,
    secret: account && words.text(address, account.username, account.password),
  });
}
