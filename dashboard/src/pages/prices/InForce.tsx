import { Text } from '@mantine/core';
import { useGroups } from '../../api/tokenOptions';
import { formatList } from '../../format/list';
import { formatRatio } from '../../format/rate';
import { joined } from '../../format/space';
import { formatDateTime } from '../../format/time';
import { texts } from '../../texts';

const words = texts.prices;

/** Since when the prices are in force, and by what they are multiplied in the groups of the user. */
export function InForce({ since }: { since: number }) {
  const groups = useGroups();
  const ratios = Object.entries(groups.data ?? {}).map(
    ([name, { ratio }]) => `${name} ${formatRatio(ratio)}`,
  );
  return (
    <Text size="sm" c="dimmed">
      {joined(
        words.inForce(formatDateTime(since)),
        words.multiplied,
        ratios.length > 0 ? words.groups(formatList(ratios)) : '',
      )}
    </Text>
  );
}
