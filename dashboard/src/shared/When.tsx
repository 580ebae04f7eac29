import { Text } from '@mantine/core';
import { formatDateTime, isTime } from '../format/time';
import { RelativeTime } from './RelativeTime';

/** A relative time, with date and time below it. */
export function When({ seconds, never }: { seconds: number | null | undefined; never?: string }) {
  return (
    <>
      <RelativeTime seconds={seconds} never={never} />
      {isTime(seconds) && (
        <Text size="xs" c="dimmed" className="tabular" style={{ whiteSpace: 'nowrap' }}>
          {formatDateTime(seconds)}
        </Text>
      )}
    </>
  );
}
