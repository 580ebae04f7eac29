import { Button, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { FilterChip } from './FilterChip';
import { lastHour, type Span, spanChoices, spanOf, spanText, typedEnds } from './span';

const words = texts.requests.filters;

interface Props {
  today: string;
  /** In which days are, until hours and minutes are typed. */
  timeZone: string;
  span: Span;
  onChange: (span: Span) => void;
}

/** Which time requests are of: some days, or from one minute to another. */
export function TimeFilter({ span, onChange, ...zone }: Props) {
  return (
    <FilterChip name={words.time} value={spanText(span, zone.today, useNow())}>
      {(close) => (
        <Choices
          {...zone}
          span={span}
          onChange={(next) => {
            onChange(next);
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

function Choices({ timeZone, span, onChange }: Props) {
  const [typed, setTyped] = useState(() => typedEnds(span, timeZone));
  const [isBackwards, setBackwards] = useState(false);
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

  function apply(event: FormEvent) {
    event.preventDefault();
    const next = spanOf(typed);
    setBackwards(next === undefined);
    if (next) onChange(next);
  }

  return (
    <Stack gap="sm">
      <SimpleGrid cols={2} spacing={6} verticalSpacing={6}>
        <Button size="xs" variant="default" onClick={() => onChange(lastHour(Math.floor(Date.now() / 1000)))}>
          {words.lastHour}
        </Button>
        {spanChoices.map((choice) => (
          <Button
            key={choice}
            size="xs"
            variant={choice === span.choice ? 'light' : 'default'}
            aria-pressed={choice === span.choice}
            onClick={() => onChange({ choice })}
          >
            {choice === 'all' ? words.allTime : texts.key.usage.ranges[choice]}
          </Button>
        ))}
      </SimpleGrid>
      <form onSubmit={apply} noValidate>
        <Stack gap="xs">
          <TextInput
            type="datetime-local"
            label={words.from}
            value={typed.from}
            onChange={({ currentTarget: { value } }) => setTyped({ ...typed, from: value })}
          />
          <TextInput
            type="datetime-local"
            label={words.to}
            error={isBackwards && words.backwards}
            value={typed.to}
            onChange={({ currentTarget: { value } }) => setTyped({ ...typed, to: value })}
          />
          <Text size="xs" c="dimmed">
            {words.zone(own)}
          </Text>
          <Button type="submit" size="xs">
            {words.apply}
          </Button>
        </Stack>
      </form>
    </Stack>
  );
}
