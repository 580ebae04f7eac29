import { Button, List, Text } from '@mantine/core';
import type { Fault } from '../../../../api/error';
import { useScrollRegion } from '../../../../shared/useScrollRegion';
import { texts } from '../../../../texts';
import { faultText } from './faultText';

const words = texts.adminBulk;
const MAX_HEIGHT = '30vh';

interface Props {
  faults: Fault[];
  /** Absent where the reader edits a text with the users. */
  onLeaveOut?: () => void;
}

/** The users because of whom nothing was changed, and why. */
export function FaultList({ faults, onLeaveOut }: Props) {
  const region = useScrollRegion(words.refused(faults.length));
  return (
    <div role="alert">
      <Text c="var(--mantine-color-error)" mb="xs">
        {words.refused(faults.length)}
      </Text>
      <div {...region} style={{ ...region.style, maxHeight: MAX_HEIGHT }}>
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {[...new Set(faults.map(faultText))].map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      </div>
      {onLeaveOut && (
        <Button variant="default" size="xs" mt="sm" onClick={onLeaveOut}>
          {words.leaveOut(faults.length)}
        </Button>
      )}
    </div>
  );
}
