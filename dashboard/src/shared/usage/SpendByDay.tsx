import { Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { daysOf, type Report } from '../../api/usageReports';
import { texts } from '../../texts';
import { SpendChart } from '../chart/SpendChart';
import { FailureState } from '../FailureState';
import classes from './SpendByDay.module.css';
import { UsageTable } from './UsageTable';

interface Props {
  report: UseQueryResult<Report>;
  today: string;
  timeZone: string;
}

/** A report by day as a chart and a table. */
export function SpendByDay({ report: { data, error, refetch }, today, timeZone }: Props) {
  const days = data && daysOf(data);
  return (
    <Paper component="section" p="lg">
      <Title order={2} mb="md">
        {texts.usage.byDay}
      </Title>
      {days ? (
        <Stack gap="lg">
          <div className={classes.chart}>
            <SpendChart daily={days} today={today} />
          </div>
          <UsageTable daily={days} />
          <Text size="sm" c="dimmed">
            {texts.key.usage.zone(timeZone)}
          </Text>
        </Stack>
      ) : error ? (
        <FailureState error={error} onRetry={refetch} />
      ) : (
        <Skeleton h={420} />
      )}
    </Paper>
  );
}
