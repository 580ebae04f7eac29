import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { System } from '../../../api/adminSystem';
import { formatMeasured, formatMicros, NONE, perSecond } from '../../../format/measure';
import { formatUsd, UNITS_PER_USD } from '../../../format/money';
import { Money } from '../../../shared/Money';
import { StatCard } from '../../../shared/StatCard';
import { texts } from '../../../texts';
import { KindsTable } from './KindsTable';
import { StepsTable } from './StepsTable';
import classes from './SystemPage.module.css';

const words = texts.adminSystem.now;
const HOUR = 3600;

type Quantiles = System['recent']['request'];

/** What the server that answers did in the last seconds. */
export function NowSection({ system: { server, recent } }: { system: System }) {
  const { milliseconds } = recent;
  const rate = (count: number) => {
    const found = perSecond(count, milliseconds);
    return found === undefined ? NONE : words.perSecond(formatMeasured(found));
  };
  const units = perSecond(recent.quota, milliseconds);
  const operations = Object.values(recent.operations).reduce((sum, count) => sum + count, 0);
  const { batches, batched_operations } = recent;
  const size = batches > 0 ? words.batchSize(formatMeasured(batched_operations / batches)) : NONE;
  return (
    <section aria-label={words.title}>
      <Title order={2}>{words.title}</Title>
      <Text c="dimmed" size="sm" mb="md" className={classes.sentence}>
        {milliseconds > 0
          ? words.of(server.name, Math.round(milliseconds / 1000))
          : words.justStarted(server.name)}
      </Text>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="md">
          <StatCard heading="h3" title={words.requests} value={rate(recent.requests)}>
            <Times of={recent.request} />
            <Alarming count={recent.failures}>{words.failed(rate(recent.failures))}</Alarming>
            <div>{words.inFlight(recent.in_flight)}</div>
          </StatCard>
          <StatCard heading="h3" title={words.operations} value={rate(operations)}>
            <Times of={recent.operation} />
            <div>{words.refused(rate(recent.refused))}</div>
            <Alarming count={recent.failed}>{words.busy(rate(recent.failed))}</Alarming>
          </StatCard>
          <StatCard
            heading="h3"
            title={words.charged}
            value={
              units === undefined ? NONE : <Money units={Math.round(units)} fine={units < UNITS_PER_USD} />
            }
          >
            {units !== undefined && (
              <>
                <div>{words.hourly(formatUsd(Math.round(units * HOUR)))}</div>
                <div>{words.units(formatMeasured(units))}</div>
              </>
            )}
          </StatCard>
          <StatCard heading="h3" title={words.batches} value={rate(batches)}>
            <div>{size}</div>
            <div>{words.queue(recent.queue)}</div>
          </StatCard>
        </SimpleGrid>
        <div className={classes.halves}>
          <Paper p="lg">
            <Title order={3} mb="xs">
              {words.kinds.title}
            </Title>
            <KindsTable operations={recent.operations} rate={rate} />
          </Paper>
          <Paper p="lg">
            <Title order={3} mb="xs">
              {words.steps.title}
            </Title>
            <StepsTable steps={recent.steps} slowest={recent.slowest_step} />
          </Paper>
        </div>
      </Stack>
    </section>
  );
}

function Times({ of: { p50_us, p99_us } }: { of: Quantiles }) {
  return <div>{p50_us == null ? NONE : words.quantiles(formatMicros(p50_us), formatMicros(p99_us))}</div>;
}

/** A line that stands out if anything was counted. */
function Alarming({ count, children }: { count: number; children: string }) {
  return (
    <Text inherit c={count > 0 ? 'var(--km-bad)' : undefined}>
      {children}
    </Text>
  );
}
