import { Select, Stack } from '@mantine/core';
import type { DayRange } from '../../api/dailyUsage';
import { texts } from '../../texts';
import { type ComparisonChoice, type ComparisonState, comparisonChoices } from './comparison';
import { DateFields } from './DateFields';
import classes from './RangeFields.module.css';

const words = texts.usage.comparison;
const choices = comparisonChoices.map((value) => ({ value, label: words.choices[value] }));

interface Props {
  today: string;
  state: ComparisonState;
  /** The present other days, with which a choice of dates starts. */
  compare: DayRange | undefined;
  onChange: (state: ComparisonState) => void;
}

/** Chooses with which days a report is compared. */
export function ComparisonFields({ today, state: { choice, typed }, compare, onChange }: Props) {
  return (
    <Stack align="flex-start" gap="sm" className={classes.fields}>
      <Select<ComparisonChoice>
        aria-label={words.label}
        className={classes.comparison}
        data={choices}
        allowDeselect={false}
        value={choice}
        onChange={(next) => next && onChange({ choice: next, typed: compare ?? typed })}
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
