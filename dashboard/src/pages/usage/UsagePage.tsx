import { Anchor, Group, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { useStatus } from '../../api/status';
import type { ReportRow } from '../../api/usageReports';
import { Name } from '../../shared/Name';
import { PageHeader } from '../../shared/PageHeader';
import { ReportSkeleton } from '../../shared/Skeletons';
import { ComparisonFields } from '../../shared/usage/ComparisonFields';
import { LatestRequests } from '../../shared/usage/LatestRequests';
import { RangeFields } from '../../shared/usage/RangeFields';
import { RefusedRequests } from '../../shared/usage/RefusedRequests';
import { todayIn } from '../../shared/usage/range';
import { SplitControl } from '../../shared/usage/SplitControl';
import { rowName } from '../../shared/usage/splitNames';
import { UsageReport } from '../../shared/usage/UsageReport';
import { useComparison } from '../../shared/usage/useComparison';
import { useRange } from '../../shared/usage/useRange';
import { useQueryChoice } from '../../shared/useQueryChoice';
import { texts } from '../../texts';

const words = texts.usage;
const splits = ['model', 'token', 'group'] as const;

export default function UsagePage() {
  const { data: status } = useStatus();
  // The days are those of the server.
  if (status) return <Usage timeZone={status.time_zone} />;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <ReportSkeleton />
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
  const { comparison, compare, setComparison } = useComparison(range, state.choice, today);
  const [split, setSplit] = useQueryChoice('by', splits);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="xl">
        <Group gap="sm" align="flex-start">
          <RangeFields today={today} state={state} onChange={setState} />
          <ComparisonFields today={today} state={comparison} compare={compare} onChange={setComparison} />
          <SplitControl splits={splits} split={split} onChange={setSplit} />
        </Group>
        <UsageReport
          range={range}
          split={split}
          compare={compare}
          today={today}
          timeZone={timeZone}
          name={(row, by) => (by === 'token' ? keyLink(row) : <Name>{rowName(row, by, 'own')}</Name>)}
        />
        <RefusedRequests range={range} name={keyLink} />
        <LatestRequests range={range} />
      </Stack>
    </>
  );
}
