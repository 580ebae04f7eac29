import { Group, Skeleton, Stack } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { useStatus } from '../../../api/status';
import { allUsageCsvHref, type ReportRow, useUsageReport } from '../../../api/usageReports';
import { PageHeader } from '../../../shared/PageHeader';
import { CsvButton } from '../../../shared/usage/CsvButton';
import { ModelRanking } from '../../../shared/usage/ModelRanking';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { Ranking } from '../../../shared/usage/Ranking';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { RequestHistory } from '../../../shared/usage/RequestHistory';
import { todayIn } from '../../../shared/usage/range';
import { SpendByDay } from '../../../shared/usage/SpendByDay';
import { useRange } from '../../../shared/usage/useRange';
import { texts } from '../../../texts';
import { readId } from '../shared/id';
import { TokenLink, UserLink } from '../shared/links';
import { withFilters } from '../shared/listQuery';
import { UserSelect } from '../shared/UserSelect';

const words = texts.adminUsage;

/** Links below each other, large enough to be tapped (WCAG 2.5.8). */
const target = { display: 'inline-block', lh: '24px' } as const;

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

type KeyOfUser = Pick<ReportRow, 'token_id' | 'token_name' | 'user_id' | 'username'>;

function keyAndOwner({ token_id, token_name, user_id, username }: KeyOfUser) {
  return (
    <>
      <TokenLink id={token_id} name={token_name} fw={600} {...target} />
      <div>
        <UserLink id={user_id} name={username} size="xs" {...target} />
      </div>
    </>
  );
}

function AllUsage({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const [params, setParams] = useSearchParams();
  const userId = readId(params.get('user_id'));
  const options = { scope: 'everyone', range, userId } as const;
  const byDay = useUsageReport({ ...options, groupBy: 'day' });
  const byUser = useUsageReport({ ...options, groupBy: 'user' });
  const byToken = useUsageReport({ ...options, groupBy: 'user,token' });
  const byModel = useUsageReport({ ...options, groupBy: 'model' });
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={<CsvButton href={allUsageCsvHref(range, userId)} />}
      />
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
        </Group>
        <SpendByDay report={byDay} today={today} timeZone={timeZone} />
        {userId === undefined && (
          <Ranking
            title={words.users}
            header={words.user}
            report={byUser}
            name={({ user_id, username }) => <UserLink id={user_id} name={username} fw={600} />}
          />
        )}
        <Ranking title={words.keys} header={texts.usage.key} report={byToken} name={keyAndOwner} />
        <ModelRanking report={byModel} />
        <RefusedRequests scope="everyone" range={range} userId={userId} name={keyAndOwner} />
        <RequestHistory scope="everyone" range={range} userId={userId} name={keyAndOwner} />
      </Stack>
    </>
  );
}
