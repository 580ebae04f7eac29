import { Box, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DayRange } from '../../api/dailyUsage';
import {
  daysOf,
  type ReportRow,
  type SplitReport,
  type UsageOptions,
  type UsageSplit,
  usageCsvHref,
  useSplitReport,
} from '../../api/usageReports';
import { formatCompact } from '../../format/compact';
import { texts } from '../../texts';
import { SpendChart } from '../chart/SpendChart';
import { FailureState } from '../FailureState';
import { Money } from '../Money';
import { RelativeTime } from '../RelativeTime';
import { Comparison } from './Comparison';
import { CsvButton } from './CsvButton';
import { Ranking } from './Ranking';
import { SplitChart } from './SplitChart';
import { seriesOf } from './series';
import { rowName } from './splitNames';
import classes from './UsageReport.module.css';
import { UsageTable } from './UsageTable';

const words = texts.usage;

interface Props extends UsageOptions {
  range: DayRange;
  split: UsageSplit;
  today: string;
  timeZone: string;
  /** Shown above the figures. */
  controls?: ReactNode;
  /** The name of a row of the ranking, with a link if it has a page. */
  name: (row: ReportRow) => ReactNode;
}

/** What was spent in a range: in all, by day as a chart and a table, and by model, key or user. */
export function UsageReport({ today, timeZone, controls, name, ...options }: Props) {
  const { data, dataUpdatedAt, error, refetch, isPlaceholderData } = useSplitReport(options);
  return (
    <>
      <Paper component="section" p="lg">
        <Group justify="space-between" align="flex-start" mb="sm">
          <Title order={2}>{words.byDay}</Title>
          <CsvButton href={usageCsvHref(options)} label={words.csv[options.split]} />
        </Group>
        {controls && <Box mb="lg">{controls}</Box>}
        {data ? (
          <div className={classes.figures} data-old={isPlaceholderData || undefined}>
            <Total report={data} today={today} options={options} />
            <Days report={data} today={today} options={options} />
            <Text size="sm" c="dimmed" mt="lg">
              <RelativeTime label={texts.key.usage.asOf} seconds={Math.floor(dataUpdatedAt / 1000)} /> ·{' '}
              {texts.key.usage.zone(timeZone)}
            </Text>
          </div>
        ) : error ? (
          <FailureState error={error} onRetry={refetch} />
        ) : (
          <Skeleton h={480} />
        )}
      </Paper>
      {data && (
        <Ranking
          title={words.rankings[data.split]}
          header={words.splits[data.split]}
          report={data.ranking}
          name={name}
        />
      )}
    </>
  );
}

interface PartProps {
  report: SplitReport;
  today: string;
  options: UsageOptions;
}

function Total({ report: { days }, today, options }: PartProps) {
  const { quota, requests, prompt_tokens, completion_tokens } = days.total;
  return (
    <Group gap="xs" align="baseline" mb="sm">
      <Money units={quota} fw={650} fz="1.5rem" />
      <Comparison days={days} today={today} options={options} />
      <Text size="sm" c="dimmed" w="100%">
        {texts.overview.requests(requests)} ·{' '}
        {texts.overview.tokens(formatCompact(prompt_tokens + completion_tokens))}
      </Text>
    </Group>
  );
}

function Days({ report, today, options: { scope = 'own' } }: PartProps) {
  const daily = daysOf(report.days);
  const series = seriesOf(report).map((each) => ({ ...each, name: rowName(each.row, report.split, scope) }));
  return (
    <Stack gap="lg">
      {series.length > 0 ? (
        <SplitChart daily={daily} series={series} today={today} />
      ) : (
        <div className={classes.chart}>
          <SpendChart daily={daily} today={today} />
        </div>
      )}
      {!report.both && <Text>{words.tooManyRows}</Text>}
      <UsageTable daily={daily} series={series} />
    </Stack>
  );
}
