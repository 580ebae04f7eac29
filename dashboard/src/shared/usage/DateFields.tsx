import { Group, TextInput } from '@mantine/core';
import type { DayRange } from '../../api/dailyUsage';
import { texts } from '../../texts';
import classes from './RangeFields.module.css';
import { rangeProblem } from './range';

const { errors } = texts.key.usage;

interface Props {
  /** The last day that can be chosen. */
  today: string;
  labels: Record<'from' | 'to', string>;
  typed: DayRange;
  onChange: (typed: DayRange) => void;
}

/** The first and the last day of a range, and what is wrong with them. */
export function DateFields({ today, labels, typed, onChange }: Props) {
  const error = rangeProblem(typed);
  return (
    <Group align="flex-start" gap="sm" wrap="nowrap" className={classes.dates}>
      <TextInput
        type="date"
        label={labels.from}
        max={today}
        value={typed.start}
        error={error && errors[error]}
        onChange={(event) => onChange({ ...typed, start: event.currentTarget.value })}
      />
      <TextInput
        type="date"
        label={labels.to}
        max={today}
        value={typed.end}
        error={error !== undefined}
        onChange={(event) => onChange({ ...typed, end: event.currentTarget.value })}
      />
    </Group>
  );
}
