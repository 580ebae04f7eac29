import { Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { hasCode } from '../../../api/error';
import type { Cost } from '../../../api/prices';
import { isAdministrator, useUser } from '../../../api/session';
import { formatInteger } from '../../../format/locale';
import { formatRatio } from '../../../format/rate';
import { FailureMessage } from '../../../shared/FailureMessage';
import { Money } from '../../../shared/Money';
import { texts } from '../../../texts';
import { RemedyLink } from '../../keys/remedies/RemedyButton';
import { addPriceHref } from '../addPriceHref';
import { lineText } from '../lineText';
import classes from '../Prices.module.css';

const words = texts.prices.calculator;

interface Props {
  /** There is something to calculate. */
  isAsked: boolean;
  model: string;
  cost: Cost | undefined;
  error: Error | null;
}

/** What would be charged and held, and the rates of which it is the sum. */
export function CostResult({ isAsked, model, cost, error }: Props) {
  const isAdmin = isAdministrator(useUser());
  return (
    <div aria-live="polite" className={classes.result}>
      {!isAsked ? (
        <Text c="dimmed">{words.nothing}</Text>
      ) : error ? (
        <Group gap="sm">
          <Text c="var(--mantine-color-error)" role="alert" className={classes.failure}>
            <FailureMessage error={error} />
          </Text>
          {isAdmin && hasCode(error, 'model_not_priced') && (
            <RemedyLink label={texts.usage.remedies.addPrice} name={model} href={addPriceHref(model)} />
          )}
        </Group>
      ) : (
        cost && <Amounts cost={cost} />
      )}
    </div>
  );
}

function Amounts({ cost: { quota, hold, ratio, lines } }: { cost: Cost }) {
  return (
    <Stack gap="md">
      <Group gap="xl" align="flex-start">
        <Amount label={words.charged} units={quota} />
        <Amount label={words.held} units={hold ?? undefined}>
          {words.noHold}
        </Amount>
      </Group>
      <div>
        <Text size="sm" c="dimmed">
          {words.lines}
        </Text>
        <ul className={classes.lines}>
          {lines.map((line) => (
            <li key={`${line.unit} ${line.rate}`} className="tabular">
              {lineText(line)}
            </li>
          ))}
          <li className="tabular">{words.ratio(formatRatio(ratio))}</li>
        </ul>
      </div>
    </Stack>
  );
}

function Amount({
  label,
  units,
  children,
}: {
  label: string;
  units: number | undefined;
  children?: ReactNode;
}) {
  return (
    <div className={classes.amount}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      {units === undefined ? (
        <Text size="sm">{children}</Text>
      ) : (
        <>
          <Money units={units} fine fw={600} fz="xl" />
          <Text size="xs" c="dimmed" className="tabular">
            {texts.common.units(formatInteger(units))}
          </Text>
        </>
      )}
    </div>
  );
}
