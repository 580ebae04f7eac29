import { Group, Paper, Skeleton } from '@mantine/core';
import { useStatus } from '../../../api/status';
import type { Token } from '../../../api/tokens';
import type { UsageScope } from '../../../api/usageReports';
import { Name } from '../../../shared/Name';
import { ComparisonFields } from '../../../shared/usage/ComparisonFields';
import { LatestRequests } from '../../../shared/usage/LatestRequests';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { RefusedRequests } from '../../../shared/usage/RefusedRequests';
import { todayIn } from '../../../shared/usage/range';
import { rowName } from '../../../shared/usage/splitNames';
import { UsageReport } from '../../../shared/usage/UsageReport';
import { useComparison } from '../../../shared/usage/useComparison';
import { useRange } from '../../../shared/usage/useRange';

interface Props {
  token: Token;
  /** `allUsers` for the token of another user. */
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

function Usage({ token, scope = 'own', timeZone }: Props & { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const { comparison, compare, setComparison } = useComparison(range, state.choice, today);
  const options = { scope, range, tokenId: token.id };
  return (
    <>
      <UsageReport
        {...options}
        split="model"
        compare={compare}
        today={today}
        timeZone={timeZone}
        controls={
          <Group gap="sm" align="flex-start">
            <RangeFields today={today} state={state} onChange={setState} />
            <ComparisonFields today={today} state={comparison} compare={compare} onChange={setComparison} />
          </Group>
        }
        name={(row) => <Name>{rowName(row, 'model', scope)}</Name>}
      />
      <RefusedRequests {...options} />
      <LatestRequests {...options} />
    </>
  );
}
