import { Group, Select, Stack, TextInput } from '@mantine/core';
import type { DayRange } from '../../api/dailyUsage';
import { texts } from '../../texts';
import classes from './RangeFields.module.css';
import { namedRange, type RangeChoice, type RangeState, rangeChoices, rangeProblem } from './range';

interface Props {
  today: string;
  state: RangeState;
  onChange: (state: RangeState) => void;
}

const words = texts.key.usage;
const choices = rangeChoices.map((value) => ({ value, label: words.ranges[value] }));

export function RangeFields({ today, state: { choice, typed }, onChange }: Props) {
  const error = rangeProblem(typed);

  function choose(next: RangeChoice) {
    // A custom range starts with the current dates.
    onChange({ choice: next, typed: next === 'custom' ? typed : namedRange(next, today) });
  }

  const type = (changes: Partial<DayRange>) => onChange({ choice, typed: { ...typed, ...changes } });
  return (
    <Stack align="flex-start" gap="sm">
      <Select<RangeChoice>
        aria-label={words.range}
        className={classes.choice}
        data={choices}
        allowDeselect={false}
        value={choice}
        onChange={(next) => next && choose(next)}
      />
      {choice === 'custom' && (
        <Group align="flex-start" gap="sm" wrap="nowrap" className={classes.dates}>
          <TextInput
            type="date"
            label={words.from}
            max={today}
            value={typed.start}
            error={error && words.errors[error]}
            onChange={(event) => type({ start: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label={words.to}
            max={today}
            value={typed.end}
            error={error !== undefined}
            onChange={(event) => type({ end: event.currentTarget.value })}
          />
        </Group>
      )}
    </Stack>
  );
}
