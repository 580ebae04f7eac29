import { Text, type TextProps, Tooltip } from '@mantine/core';
import { spaceBetween } from '../format/space';
import { dateOf, formatDateTime, formatRelative, isTime } from '../format/time';
import { texts } from '../texts';
import { useNow } from './useNow';

interface Props extends TextProps {
  /** Unix seconds. Absent, 0 and -1 mean never. */
  seconds: number | null | undefined;
  /** Replaces "never". */
  never?: string;
  /** Stands before the time. */
  label?: string;
}

/** A relative time such as "in 3 d 4 h". The tooltip shows date and time. */
export function RelativeTime({ seconds, never = texts.common.never, label = '', ...props }: Props) {
  const now = useNow();
  const before = (text: string) => label + (label && spaceBetween(label, text));
  if (!isTime(seconds)) {
    return (
      <Text span inherit {...props}>
        {before(never)}
        {never}
      </Text>
    );
  }
  const text = formatRelative(seconds, now);
  return (
    <Tooltip label={formatDateTime(seconds)}>
      <Text span inherit {...props}>
        {before(text)}
        <time dateTime={dateOf(seconds)?.toISOString()}>{text}</time>
      </Text>
    </Tooltip>
  );
}
