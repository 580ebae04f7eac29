import { Group, Progress, Text, Tooltip } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { formatUsd } from '../format/money';
import { texts } from '../texts';

interface Props {
  used: number;
  remain: number;
  unlimited: boolean;
}

const words = texts.common.quota;
const WARNING_PERCENT = 90;

/** The used and remaining quota of a token. The tooltip shows quota units. */
export function QuotaBar({ used, remain, unlimited }: Props) {
  if (unlimited) {
    return (
      <Tooltip label={words.unitsUsed(formatInteger(used))}>
        <Group gap="xs" justify="space-between" wrap="nowrap" className="tabular">
          <Text size="sm" fw={500}>
            {words.unlimited}
          </Text>
          <Text size="sm" c="dimmed">
            {words.used(formatUsd(used))}
          </Text>
        </Group>
      </Tooltip>
    );
  }
  const granted = used + remain;
  const percent = granted > 0 ? Math.min(100, Math.floor((used / granted) * 100)) : 0;
  return (
    <Tooltip label={words.units(formatInteger(used), formatInteger(remain))}>
      <div className="tabular">
        <Group gap="xs" justify="space-between" mb={6}>
          <Text size="sm" fw={500}>
            {words.left(formatUsd(remain))}
          </Text>
          <Text size="sm" c="dimmed">
            {words.used(formatUsd(used))}
          </Text>
        </Group>
        <Progress.Root size={6}>
          <Progress.Section
            value={percent}
            color={percent >= WARNING_PERCENT ? 'var(--km-bad)' : 'var(--km-accent)'}
            aria-label={words.share(percent)}
          />
        </Progress.Root>
      </div>
    </Tooltip>
  );
}
