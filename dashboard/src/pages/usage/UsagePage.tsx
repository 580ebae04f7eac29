import { Button, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useStatus } from '../../api/status';
import { daysOf, usageCsvHref, useUsageReport } from '../../api/usageReports';
import { FailureState } from '../../shared/FailureState';
import { PageHeader } from '../../shared/PageHeader';
import { SpendChart } from '../../shared/SpendChart';
import { RangeFields } from '../../shared/usage/RangeFields';
import { todayIn } from '../../shared/usage/range';
import { UsageTable } from '../../shared/usage/UsageTable';
import { useRange } from '../../shared/usage/useRange';
import { texts } from '../../texts';
import { Ranking } from './Ranking';
import classes from './UsagePage.module.css';

const words = texts.usage;

export default function UsagePage() {
  const { data: status } = useStatus();
  // The days are those of the server.
  if (status) return <Usage timeZone={status.time_zone} />;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Skeleton h={420} radius="lg" />
    </>
  );
}

function Usage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const byDay = useUsageReport({ range, groupBy: 'day' });
  const byToken = useUsageReport({ range, groupBy: 'token' });
  const days = byDay.data && daysOf(byDay.data);
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          <Button
            component="a"
            href={usageCsvHref(range)}
            download
            variant="default"
            leftSection={<IconDownload size={18} stroke={1.6} />}
          >
            {texts.key.usage.export}
          </Button>
        }
      />
      <Stack gap="md">
        <RangeFields today={today} state={state} onChange={setState} />
        <Paper component="section" p="lg">
          <Title order={2} mb="md">
            {words.byDay}
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
          ) : byDay.error ? (
            <FailureState error={byDay.error} onRetry={byDay.refetch} />
          ) : (
            <Skeleton h={420} />
          )}
        </Paper>
        <section>
          <Title order={2} mb="md">
            {words.ranking}
          </Title>
          {byToken.error && !byToken.data ? (
            <Paper>
              <FailureState error={byToken.error} onRetry={byToken.refetch} />
            </Paper>
          ) : (
            <Ranking report={byToken.data} />
          )}
        </section>
      </Stack>
    </>
  );
}
