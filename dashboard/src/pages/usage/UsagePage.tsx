import { Anchor, Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../api/status';
import { type ReportRow, usageCsvHref, useUsageReport } from '../../api/usageReports';
import { PageHeader } from '../../shared/PageHeader';
import { CsvButton } from '../../shared/usage/CsvButton';
import { ModelRanking } from '../../shared/usage/ModelRanking';
import { RangeFields } from '../../shared/usage/RangeFields';
import { Ranking } from '../../shared/usage/Ranking';
import { RefusedRequests } from '../../shared/usage/RefusedRequests';
import { RequestHistory } from '../../shared/usage/RequestHistory';
import { todayIn } from '../../shared/usage/range';
import { SpendByDay } from '../../shared/usage/SpendByDay';
import { useRange } from '../../shared/usage/useRange';
import { texts } from '../../texts';

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

function keyLink({ token_id, token_name }: Pick<ReportRow, 'token_id' | 'token_name'>) {
  return (
    <Anchor component={Link} href={`/keys/${token_id}`} size="sm" fw={600}>
      {token_name}
    </Anchor>
  );
}

function Usage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const byDay = useUsageReport({ range, groupBy: 'day' });
  const byToken = useUsageReport({ range, groupBy: 'token' });
  const byModel = useUsageReport({ range, groupBy: 'model' });
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={<CsvButton href={usageCsvHref(range)} />}
      />
      <Stack gap="md">
        <RangeFields today={today} state={state} onChange={setState} />
        <SpendByDay report={byDay} today={today} timeZone={timeZone} />
        <Ranking title={words.ranking} header={words.key} report={byToken} name={keyLink} />
        <ModelRanking report={byModel} />
        <RefusedRequests range={range} name={keyLink} />
        <RequestHistory range={range} name={keyLink} />
      </Stack>
    </>
  );
}
