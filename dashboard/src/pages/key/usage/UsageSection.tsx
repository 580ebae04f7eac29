import { Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useStatus } from '../../../api/status';
import type { Token } from '../../../api/tokens';
import { daysOf, type Report, type UsageScope, useUsageReport } from '../../../api/usageReports';
import { SpendChart } from '../../../shared/chart/SpendChart';
import { FailureState } from '../../../shared/FailureState';
import { RelativeTime } from '../../../shared/RelativeTime';
import { ModelRanking } from '../../../shared/usage/ModelRanking';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { RequestHistory } from '../../../shared/usage/RequestHistory';
import { todayIn } from '../../../shared/usage/range';
import { UsageTable } from '../../../shared/usage/UsageTable';
import { useRange } from '../../../shared/usage/useRange';
import { texts } from '../../../texts';
import { usageCsv, usageFileName } from './csv';
import { download } from './download';
import classes from './UsageSection.module.css';

const words = texts.key.usage;

interface Props {
  token: Token;
  /** `everyone` for the token of another user. */
  scope?: UsageScope;
}

/** Loads the time zone of the server first, because usage days depend on it. */
export function UsageSection({ token, scope }: Props) {
  const { data: status } = useStatus();
  if (status) return <Usage token={token} scope={scope} timeZone={status.time_zone} />;
  return (
    <Paper component="section" p="lg">
      <Skeleton h={420} />
    </Paper>
  );
}

function Usage({ token, scope, timeZone }: Props & { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const report = useUsageReport({ scope, range, groupBy: 'day', tokenId: token.id });
  const byModel = useUsageReport({ scope, range, groupBy: 'model', tokenId: token.id });
  const { data, error, refetch, isPlaceholderData } = report;

  function exportCsv(shown: Report) {
    const usage = {
      token_id: token.id,
      token_name: token.name,
      start_date: shown.from,
      end_date: shown.to,
      daily: daysOf(shown),
    };
    download(usageFileName(usage), usageCsv(usage));
  }

  return (
    <>
      <Paper component="section" p="lg">
        <Group justify="space-between" align="flex-start" mb="md">
          <Title order={2}>{words.title}</Title>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={16} />}
            disabled={!data || isPlaceholderData}
            onClick={() => data && exportCsv(data)}
          >
            {words.export}
          </Button>
        </Group>
        <RangeFields today={today} state={state} onChange={setState} />
        {data ? (
          <Stack gap="lg" mt="lg" className={classes.figures} data-old={isPlaceholderData || undefined}>
            <div className={classes.chart}>
              <SpendChart daily={daysOf(data)} today={today} />
            </div>
            <UsageTable daily={daysOf(data)} />
            <Text size="sm" c="dimmed">
              {words.asOf} <RelativeTime seconds={Math.floor(report.dataUpdatedAt / 1000)} /> ·{' '}
              {words.zone(timeZone)}
            </Text>
          </Stack>
        ) : error ? (
          <FailureState error={error} onRetry={refetch} />
        ) : (
          <Skeleton h={420} mt="lg" />
        )}
      </Paper>
      <ModelRanking report={byModel} />
      <RefusedRequests scope={scope} range={range} tokenId={token.id} />
      <RequestHistory scope={scope} range={range} tokenId={token.id} />
    </>
  );
}
