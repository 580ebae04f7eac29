import { Alert } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useUser } from '../../api/session';
import { lockedBy } from '../../api/tokenSwitch';
import type { Token } from '../../api/tokens';
import { texts } from '../../texts';

/** Says who disabled the key, and who can enable it. */
export function LockedAlert({ token }: { token: Token }) {
  const user = useUser();
  const who = lockedBy(user, token);
  if (!who) return null;
  return (
    <Alert color="gray" icon={<IconLock size={18} />}>
      {texts.key.locked[who]}
    </Alert>
  );
}
