import { Button, Group, Stack } from '@mantine/core';
import { IconCalculator, IconPencil } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Price } from '../../api/prices';
import { isAdministrator, useUser } from '../../api/session';
import { PageHeader } from '../../shared/PageHeader';
import { useListQuery } from '../../shared/useListQuery';
import { useLoaded } from '../../shared/useLoaded';
import { texts } from '../../texts';
import { Calculator } from './calculator/Calculator';
import { type AskedPrice, askedOf, NOTHING_ASKED } from './calculator/values';
import { PriceList } from './PriceList';

const words = texts.prices;
const loadVersions = () => import('./versions/forAdministrators');

/** What models cost, and what a request would cost. Administrators also change prices. */
export default function PricesPage() {
  const isAdmin = isAdministrator(useUser());
  const { filters, setFilters } = useListQuery(['add']);
  const [editing, setEditing] = useState<{ model: string }>();
  const { PriceEditor, PriceVersions } = useLoaded(loadVersions, isAdmin) ?? {};
  const [asked, setAsked] = useState<AskedPrice>(NOTHING_ASKED);
  const calculator = useRef<HTMLElement>(null);

  function calculate(price?: Price) {
    if (price) setAsked(askedOf(price));
    const { current } = calculator;
    current?.scrollIntoView({ block: 'nearest' });
    current?.querySelector<HTMLInputElement>(price ? '[name="input_tokens"]' : '[name="model"]')?.focus();
  }

  // A link to the form of a model, which Back and a reload must not repeat.
  useEffect(() => {
    if (!filters.add) return;
    setEditing({ model: filters.add });
    setFilters({ add: '' });
  });

  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          <Group gap="sm">
            <Button
              variant="default"
              leftSection={<IconCalculator size={18} stroke={1.6} />}
              onClick={() => calculate()}
            >
              {words.calculator.open}
            </Button>
            {isAdmin && (
              <Button
                leftSection={<IconPencil size={18} stroke={1.6} />}
                onClick={() => setEditing({ model: '' })}
              >
                {words.editor.open}
              </Button>
            )}
          </Group>
        }
      />
      <Stack gap="xl">
        <PriceList onCalculate={calculate} />
        <Calculator ref={calculator} asked={asked} />
        {PriceVersions && <PriceVersions />}
      </Stack>
      {PriceEditor && (
        <PriceEditor
          opened={editing !== undefined}
          model={editing?.model ?? ''}
          onClose={() => setEditing(undefined)}
        />
      )}
    </>
  );
}
