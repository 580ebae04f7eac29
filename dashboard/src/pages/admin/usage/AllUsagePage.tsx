import { Group, Skeleton, Stack } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../../api/status';
import type { ReportRow, UsageSplit } from '../../../api/usageReports';
import { withFilters } from '../../../shared/listQuery';
import { Name } from '../../../shared/Name';
import { PageHeader } from '../../../shared/PageHeader';
import { LatestRequests } from '../../../shared/usage/LatestRequests';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { todayIn } from '../../../shared/usage/range';
import { SplitControl } from '../../../shared/usage/SplitControl';
import { rowName } from '../../../shared/usage/splitNames';
import { UsageReport } from '../../../shared/usage/UsageReport';
import { useRange } from '../../../shared/usage/useRange';
import { useSplit } from '../../../shared/usage/useSplit';
import { texts } from '../../../texts';
import { readId } from '../shared/id';
import { UserLink } from '../shared/links';
import { UserSelect } from '../shared/UserSelect';
import { keyAndOwner } from './keyAndOwner';

const words = texts.adminUsage;
const splitsOfUser: UsageSplit[] = ['model', 'token', 'gateway'];
const splitsOfAll: UsageSplit[] = [...splitsOfUser, 'user'];

/** The usage of all users, or of one of them. */
export default function AllUsagePage() {
  const { data: status } = useStatus();
  // The days are those of the server.
  if (status) return <AllUsage timeZone={status.time_zone} />;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Skeleton h={420} radius="lg" />
    </>
  );
}

/** A row has what the report is split by. */
function nameOf(row: ReportRow) {
  if (row.token_id != null) return keyAndOwner(row);
  if (row.user_id != null) return <UserLink id={row.user_id} name={row.username} fw={600} />;
  const split = row.gateway_id === undefined ? 'model' : 'gateway';
  return <Name>{rowName(row, split, 'allUsers')}</Name>;
}

function AllUsage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const [params, setParams] = useSearchParams();
  const userId = readId(params.get('user_id'));
  const options = { scope: 'allUsers', range, userId } as const;
  const splits = userId === undefined ? splitsOfAll : splitsOfUser;
  const { split, setSplit } = useSplit(splits);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="md">
        <Group gap="sm" align="flex-start">
          <RangeFields today={today} state={state} onChange={setState} />
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
        <UsageReport {...options} split={split} today={today} timeZone={timeZone} name={nameOf} />
        <RefusedRequests {...options} name={keyAndOwner} />
        <LatestRequests {...options} name={keyAndOwner} />
      </Stack>
    </>
  );
}
