import { Anchor, Group, Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../api/status';
import type { ReportRow, UsageSplit } from '../../api/usageReports';
import { Name } from '../../shared/Name';
import { PageHeader } from '../../shared/PageHeader';
import { LatestRequests } from '../../shared/usage/LatestRequests';
import { RangeFields } from '../../shared/usage/RangeFields';
import { RefusedRequests } from '../../shared/usage/RefusedRequests';
import { todayIn } from '../../shared/usage/range';
import { SplitControl } from '../../shared/usage/SplitControl';
import { rowName } from '../../shared/usage/splitNames';
import { UsageReport } from '../../shared/usage/UsageReport';
import { useRange } from '../../shared/usage/useRange';
import { useSplit } from '../../shared/usage/useSplit';
import { texts } from '../../texts';

const words = texts.usage;
const splits: UsageSplit[] = ['model', 'token'];

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
      <Name>{token_name ?? ''}</Name>
    </Anchor>
  );
}

function Usage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const { split, setSplit } = useSplit(splits);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="md">
        <Group gap="sm" align="flex-start">
          <RangeFields today={today} state={state} onChange={setState} />
          <SplitControl splits={splits} split={split} onChange={setSplit} />
        </Group>
        <UsageReport
          range={range}
          split={split}
          today={today}
          timeZone={timeZone}
          name={(row) => (row.token_id == null ? <Name>{rowName(row, 'model', 'own')}</Name> : keyLink(row))}
        />
        <RefusedRequests range={range} name={keyLink} />
        <LatestRequests range={range} name={keyLink} />
      </Stack>
    </>
  );
}
