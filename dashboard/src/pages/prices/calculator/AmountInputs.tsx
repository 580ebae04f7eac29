import { Select, TextInput } from '@mantine/core';
import { texts } from '../../../texts';
import { unitLabel } from '../units';
import type { InputProps } from './PriceInputs';
import { countOf, unitsOf } from './values';

const words = texts.prices.calculator;

/** What the request uses. */
export function AmountInputs({ values, options, onChange }: InputProps) {
  const shown = unitsOf(values, options);
  const others = options.units.filter((unit) => !shown.includes(unit));
  return (
    <>
      {shown.map((unit) => {
        const typed = values.counts[unit] ?? '';
        const isWrong = typed.trim() !== '' && countOf(unit, typed) === undefined;
        return (
          <TextInput
            key={unit}
            label={unitLabel(unit)}
            name={unit}
            inputMode="decimal"
            autoComplete="off"
            value={typed}
            error={isWrong && words.notANumber}
            onChange={(event) =>
              onChange({ counts: { ...values.counts, [unit]: event.currentTarget.value } })
            }
          />
        );
      })}
      {others.length > 0 && (
        <Select
          label={words.addUnit}
          data={others.map((unit) => ({ value: unit, label: unitLabel(unit) }))}
          value={null}
          onChange={(unit) => unit && onChange({ added: [...values.added, unit] })}
        />
      )}
    </>
  );
}
