import { Select, Stack } from '@mantine/core';
import { texts } from '../../texts';
import { DateFields } from './DateFields';
import classes from './RangeFields.module.css';
import { type RangeChoice, type RangeState, rangeChoices } from './range';

interface Props {
  today: string;
  state: RangeState;
  onChange: (state: RangeState) => void;
}

const words = texts.key.usage;
const choices = rangeChoices.map((value) => ({ value, label: words.ranges[value] }));

export function RangeFields({ today, state: { choice, typed }, onChange }: Props) {
  return (
    <Stack align="flex-start" gap="sm" className={classes.fields}>
      <Select<RangeChoice>
        aria-label={words.range}
        className={classes.choice}
        data={choices}
        allowDeselect={false}
        value={choice}
        // A custom range starts with the current dates.
        onChange={(next) => next && onChange({ choice: next, typed })}
      />
      {choice === 'custom' && (
        <DateFields
          today={today}
          labels={words}
          typed={typed}
          onChange={(dates) => onChange({ choice, typed: dates })}
        />
      )}
    </Stack>
  );
}
