import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { periods } from '../../api/limits';
import { useUser } from '../../api/session';
import { texts } from '../../texts';

/** Says that a limit of the account refuses all requests, which the limits of the key do not show. */
export function AccountLimitAlert() {
  const { period_usage } = useUser();
  if (periods.every((period) => period_usage[period].remaining !== 0)) return null;
  return (
    <Alert color="gray" icon={<IconAlertTriangle size={18} />}>
      {texts.key.accountLimit}
    </Alert>
  );
}
