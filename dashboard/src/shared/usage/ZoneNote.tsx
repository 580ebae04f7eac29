import { Text } from '@mantine/core';
import { useStatus } from '../../api/status';
import { texts } from '../../texts';

/** Beside times, which are in the zone of the browser, says in which zone days are. Shows nothing if it is the same. */
export function ZoneNote() {
  const zone = useStatus().data?.time_zone;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || zone === own) return null;
  return (
    <Text size="sm" c="dimmed" mb="sm">
      {texts.key.usage.zones(zone, own)}
    </Text>
  );
}
