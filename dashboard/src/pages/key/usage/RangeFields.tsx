import { Group, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { DayRange } from '../../../api/dailyUsage';
import { texts } from '../../../texts';
import classes from './RangeFields.module.css';
import { namedRange, type RangeChoice, rangeProblem } from './range';

interface Props {
  today: string;
  /** Called only with valid ranges. */
  onRange: (range: DayRange) => void;
}

const words = texts.key.usage;

const choices: { value: RangeChoice; label: string }[] = [
  { value: 'today', label: words.today },
  { value: 'week', label: words.week },
  { value: 'custom', label: words.custom },
];

export function RangeFields({ today, onRange }: Props) {
  const [choice, setChoice] = useState<RangeChoice>('week');
  const [typed, setTyped] = useState<DayRange>(() => namedRange('week', today));
  const error = rangeProblem(typed);

  function choose(next: RangeChoice) {
    setChoice(next);
    // A custom range starts with the current dates.
    if (next === 'custom') return;
    setTyped(namedRange(next, today));
    onRange(namedRange(next, today));
  }

  function type(changes: Partial<DayRange>) {
    const range = { ...typed, ...changes };
    setTyped(range);
    if (rangeProblem(range) === undefined) onRange(range);
  }

  return (
    <Stack align="flex-start" gap="sm">
      <SegmentedControl<RangeChoice>
        aria-label={words.range}
        className={classes.choice}
        data={choices}
        value={choice}
        onChange={choose}
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
