import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { type ApiRequest, isRefusal } from '../../../api/adminRequests';
import { useAccount, useGrantQuota } from '../../../api/adminUsers';
import { formatUsd, formatUsdExact } from '../../../format/money';
import { FailureMessage } from '../../../shared/FailureMessage';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';

const words = texts.adminRequests.topUpFailure;

export interface FailedTopUp {
  /** Quota units that should have been added. */
  units: number;
  /** For the audit log. */
  note: string | undefined;
  /** The wallet before. Absent if it was not loaded. */
  before: number | undefined;
  error: Error;
}

interface Props {
  request: ApiRequest;
  failed: FailedTopUp;
  onClose: () => void;
}

/** The request is approved, but adding to the wallet failed. Offers to try only that again. */
export function TopUpFailure({ request: { user_id, username }, failed, onClose }: Props) {
  const { units, note, before } = failed;
  const [error, setError] = useState(failed.error);
  const topUp = useGrantQuota();
  const account = useAccount(user_id);
  const amount = formatUsdExact(units);

  function retry() {
    topUp.mutate(
      { id: user_id, grant: { delta: units, note } },
      {
        onSuccess: ({ quota }) => {
          notifySuccess(texts.adminUsers.walletDialog.done(username, formatUsd(quota)));
          onClose();
        },
        onError: setError,
      },
    );
  }

  return (
    <Stack>
      <Alert color="yellow" icon={<IconAlertTriangle size={18} />} role="alert">
        <Text size="sm" fw={600}>
          {isRefusal(error) ? words.refused(amount) : words.unknown(amount)}
        </Text>
        <Text size="sm" mt={4}>
          <FailureMessage error={error} />
        </Text>
      </Alert>
      {before !== undefined && <Text>{words.before(formatUsd(before))}</Text>}
      {account.data && !account.isFetching && <Text>{words.now(formatUsd(account.data.quota))}</Text>}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {words.notNow}
        </Button>
        <Button onClick={retry} loading={topUp.isPending} data-autofocus>
          {words.retry(amount)}
        </Button>
      </Group>
    </Stack>
  );
}
