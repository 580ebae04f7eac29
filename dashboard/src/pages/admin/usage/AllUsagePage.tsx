import { Group, Stack } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../../api/status';
import type { ReportRow, UsageSplit } from '../../../api/usageReports';
import { withFilters } from '../../../shared/listQuery';
import { Name } from '../../../shared/Name';
import { PageHeader } from '../../../shared/PageHeader';
import { ReportSkeleton } from '../../../shared/Skeletons';
import { ComparisonFields } from '../../../shared/usage/ComparisonFields';
import { LatestRequests } from '../../../shared/usage/LatestRequests';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { todayIn } from '../../../shared/usage/range';
import { SplitControl } from '../../../shared/usage/SplitControl';
import { rowName } from '../../../shared/usage/splitNames';
import { UsageReport } from '../../../shared/usage/UsageReport';
import { useComparison } from '../../../shared/usage/useComparison';
import { useRange } from '../../../shared/usage/useRange';
import { useQueryChoice } from '../../../shared/useQueryChoice';
import { texts } from '../../../texts';
import { readId } from '../shared/id';
import { UserLink } from '../shared/links';
import { UserSelect } from '../shared/UserSelect';
import { keyAndOwner } from './keyAndOwner';

const words = texts.adminUsage;
const splitsOfUser = ['model', 'token', 'group', 'gateway'] as const;
const splitsOfAll = [...splitsOfUser, 'user'] as const;

/** The usage of all users, or of one of them. */
export default function AllUsagePage() {
  const { data: status } = useStatus();
  // The days are those of the server.
  if (status) return <AllUsage timeZone={status.time_zone} />;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <ReportSkeleton />
    </>
  );
}

function nameOf(row: ReportRow, split: UsageSplit) {
  if (split === 'token') return keyAndOwner(row);
  if (split === 'user') return <UserLink id={row.user_id} name={row.username} fw={600} />;
  return <Name>{rowName(row, split, 'allUsers')}</Name>;
}

function AllUsage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const [params, setParams] = useSearchParams();
  const userId = readId(params.get('user_id'));
  const options = { scope: 'allUsers', range, userId } as const;
  const { comparison, compare, setComparison } = useComparison(range, state.choice, today);
  const splits: readonly [UsageSplit, ...UsageSplit[]] = userId === undefined ? splitsOfAll : splitsOfUser;
  const [split, setSplit] = useQueryChoice('by', splits);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="xl">
        <Group gap="sm" align="flex-start">
          <RangeFields today={today} state={state} onChange={setState} />
          <ComparisonFields today={today} state={comparison} compare={compare} onChange={setComparison} />
          <UserSelect
            aria-label={words.user}
            placeholder={words.allUsers}
            w={{ base: '100%', sm: 220 }}
            value={userId?.toString() ?? ''}
            onChange={(user_id) =>
              setParams((current) => withFilters(current, { user_id }), { replace: true })
            }
          />
          <SplitControl splits={splits} split={split} onChange={setSplit} />
        </Group>
        <UsageReport
          {...options}
          split={split}
          compare={compare}
          today={today}
          timeZone={timeZone}
          name={nameOf}
        />
        <RefusedRequests {...options} name={keyAndOwner} />
        <LatestRequests {...options} />
      </Stack>
    </>
  );
}
