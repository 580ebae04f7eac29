import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatDateTime, formatRelative } from '../format/time';
import { texts } from '../texts';
import { useNow } from './useNow';

interface Props extends TextProps {
  /** Unix seconds. Absent, 0 and -1 mean never. */
  seconds: number | null | undefined;
  /** Replaces "never". */
  never?: string;
}

/** A relative time such as "in 3 d 4 h". The tooltip shows date and time. */
export function RelativeTime({ seconds, never = texts.common.never, ...props }: Props) {
  const now = useNow();
  if (!seconds || seconds < 0) {
    return (
      <Text span inherit {...props}>
        {never}
      </Text>
    );
  }
  return (
    <Tooltip label={formatDateTime(seconds)}>
      <Text span inherit {...props}>
        <time dateTime={new Date(seconds * 1000).toISOString()}>{formatRelative(seconds, now)}</time>
      </Text>
    </Tooltip>
  );
}
