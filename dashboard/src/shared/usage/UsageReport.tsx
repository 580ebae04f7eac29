import { Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { DayRange } from '../../api/dailyUsage';
import {
  daysOf,
  isByHour,
  type ReportRow,
  type SplitReport,
  type UsageOptions,
  type UsageSplit,
  useSplitReport,
} from '../../api/usageReports';
import { formatCompact } from '../../format/compact';
import { texts } from '../../texts';
import { SpendChart } from '../chart/SpendChart';
import { type View, ViewControl } from '../chart/ViewControl';
import { FailureState } from '../FailureState';
import { Money } from '../Money';
import { RelativeTime } from '../RelativeTime';
import { Section } from '../Section';
import { Comparison } from './Comparison';
import { csvFiles } from './csvFiles';
import { ExportMenu } from './ExportMenu';
import { dayHref, partHref, requestsOf } from './partHref';
import { Ranking } from './Ranking';
import { SplitChart } from './SplitChart';
import { MAX_SERIES, seriesOf } from './series';
import { rowName } from './splitNames';
import classes from './UsageReport.module.css';
import { UsageTable } from './UsageTable';
import { useRanking } from './useRanking';

const words = texts.usage;

interface Options extends UsageOptions {
  range: DayRange;
  split: UsageSplit;
}

interface Props extends Options {
  /** The days with which all is compared. Absent for none. */
  compare: DayRange | undefined;
  today: string;
  timeZone: string;
  /** Shown above the figures. */
  controls?: ReactNode;
  /** The name of a row of the ranking, with a link if it has a page. */
  name: (row: ReportRow, split: UsageSplit) => ReactNode;
}

/** What was spent in a range: in all, by day or hour as a chart or a table, and by model, key, group or user. */
export function UsageReport({ today, timeZone, controls, name, compare, ...options }: Props) {
  const split = useSplitReport({ ...options, count: MAX_SERIES + 1 });
  const ranking = useRanking({ ...options, compare });
  const [view, setView] = useState<View>('chart');
  const [params] = useSearchParams();
  const { data, dataUpdatedAt, error, refetch, isPlaceholderData } = split;
  const byHour = data !== undefined && isByHour(data.time);
  return (
    <>
      <Section
        title={byHour ? words.byHour : words.byDay}
        side={
          <Group gap="sm">
            <ViewControl view={view} onChange={setView} />
            <ExportMenu files={csvFiles({ ...ranking.wanted, time: byHour ? 'hour' : 'day' })} />
          </Group>
        }
      >
        {controls && <Box mb="lg">{controls}</Box>}
        {data ? (
          <div className={classes.figures} data-old={isPlaceholderData || undefined}>
            <Total report={data}>
              {ranking.data && (
                <Comparison report={ranking.data} isOld={ranking.isPlaceholderData} today={today} />
              )}
            </Total>
            <Times
              report={data}
              today={today}
              options={options}
              view={view}
              zone={byHour ? timeZone : undefined}
            />
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
      </Section>
      <Ranking ranking={ranking} name={name} hrefOf={(row) => partHref(row, options, params)} />
    </>
  );
}

function Total({ report: { top }, children }: { report: SplitReport; children: ReactNode }) {
  const { quota, requests, prompt_tokens, completion_tokens } = top.total;
  return (
    <Group gap="xs" align="baseline" mb="sm">
      <Money units={quota} fw={650} fz="1.5rem" />
      {children}
      <Text size="sm" c="dimmed" w="100%">
        {texts.overview.requests(requests)} ·{' '}
        {texts.overview.tokens(formatCompact(prompt_tokens + completion_tokens))}
      </Text>
    </Group>
  );
}

interface TimesProps {
  report: SplitReport;
  today: string;
  options: Options;
  view: View;
  /** Of hours. Absent for days. */
  zone: string | undefined;
}

/** The days or hours. Each opens what it is made of. */
function Times({ report, today, options, view, zone }: TimesProps) {
  const [path, navigate] = useLocation();
  const [params] = useSearchParams();
  const { scope = 'own', range } = options;
  const daily = daysOf(report.time);
  const series = seriesOf(report).map((each) => ({ ...each, name: rowName(each.row, report.split, scope) }));

  /** A day opens in its hours, an hour in its requests. */
  function hrefOf(date: string): string {
    if (zone !== undefined || range.start === range.end) return requestsOf(date, options);
    return dayHref(path, params, date);
  }

  const bars = { daily, today, zone, onOpen: (date: string) => navigate(hrefOf(date)) };
  return (
    <Stack gap="lg">
      {view === 'table' ? (
        <UsageTable daily={daily} series={series} zone={zone} hrefOf={hrefOf} />
      ) : series.length > 0 ? (
        <SplitChart {...bars} series={series} />
      ) : (
        <div className={classes.chart}>
          <SpendChart {...bars} />
        </div>
      )}
      {!report.both && <Text>{words.tooManyRows}</Text>}
    </Stack>
  );
}
