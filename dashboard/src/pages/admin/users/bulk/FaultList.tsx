import { Button } from '@mantine/core';
import type { Fault } from '../../../../api/error';
import { ReasonList } from '../../../../shared/ReasonList';
import { texts } from '../../../../texts';
import { faultText } from './faultText';

const words = texts.adminBulk;

interface Props {
  faults: Fault[];
  /** Absent where the reader edits a text with the users. */
  onLeaveOut?: () => void;
}

/** The users because of whom nothing was changed, and why. */
export function FaultList({ faults, onLeaveOut }: Props) {
  return (
    <div>
      <ReasonList label={words.refused(faults.length)} reasons={faults.map(faultText)} />
      {onLeaveOut && (
        <Button variant="default" size="xs" mt="sm" onClick={onLeaveOut}>
          {words.leaveOut(faults.length)}
        </Button>
      )}
    </div>
  );
}
