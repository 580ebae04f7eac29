import { Paper, SimpleGrid, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type Ref, useState } from 'react';
import { useCost, usePrices } from '../../../api/prices';
import { texts } from '../../../texts';
import { AmountInputs } from './AmountInputs';
import { CostResult } from './CostResult';
import { PriceInputs } from './PriceInputs';
import { type AskedPrice, NO_VALUES, optionsOf, priceOf, requestOf, type Values } from './values';

const words = texts.prices.calculator;
const DEBOUNCE_MS = 400;
/** A part of a name is found in the names of many models. */
const LOOKED_UP = 100;

interface Props {
  /** The price that a row of the list asks to calculate with. */
  asked: AskedPrice;
  ref: Ref<HTMLElement>;
}

/** What a request would cost, and from which rates. The server computes it after a pause in typing. */
export function Calculator({ asked, ref }: Props) {
  const [values, setValues] = useState<Values>({ ...NO_VALUES, ...asked });
  const [applied, setApplied] = useState(asked);
  if (applied !== asked) {
    setApplied(asked);
    setValues({ ...values, ...asked, context: {} });
  }
  const change = (changes: Partial<Values>) => setValues((current) => ({ ...current, ...changes }));

  const [settled] = useDebouncedValue(values, DEBOUNCE_MS);
  const model = settled.model.trim();
  const found = usePrices({ keyword: model }, 0, LOOKED_UP, model !== '');
  const options = optionsOf(priceOf(found.data?.items ?? [], settled));
  const request = requestOf(settled, options);
  const cost = useCost(request);
  return (
    <section ref={ref} aria-label={words.title}>
      <Title order={2} mb={4}>
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {words.hint}
      </Text>
      <Paper p="lg">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
          <PriceInputs values={values} options={options} onChange={change} />
          <AmountInputs values={values} options={options} onChange={change} />
        </SimpleGrid>
        <CostResult isAsked={request !== undefined} model={model} cost={cost.data} error={cost.error} />
      </Paper>
    </section>
  );
}
