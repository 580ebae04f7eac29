import { Group, Skeleton } from '@mantine/core';
import { useStatus } from '../../../api/status';
import { PageHeader } from '../../../shared/PageHeader';
import { RangeFields } from '../../../shared/usage/RangeFields';
import { RequestHistory } from '../../../shared/usage/RequestHistory';
import { todayIn } from '../../../shared/usage/range';
import { useRange } from '../../../shared/usage/useRange';
import { useRequestFilters } from '../../../shared/usage/useRequestFilters';
import { texts } from '../../../texts';
import { PriceFix } from '../../keys/fixes/PriceFix';
import { UserSelect } from '../shared/UserSelect';
import { AnyKeySelect } from './AnyKeySelect';
import { GatewaySelect } from './GatewaySelect';
import { keyAndOwner } from './keyAndOwner';

const words = texts.adminUsage;

/** The single requests of all users, or of one of them. */
export default function AllRequestsPage() {
  const { data: status } = useStatus();
  return (
    <>
      <PageHeader title={words.requests} description={texts.usage.requestHistory.description} />
      {/* The days are those of the server. */}
      {status ? <AllRequests timeZone={status.time_zone} /> : <Skeleton h={420} radius="lg" />}
    </>
  );
}

function AllRequests({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const { filters, onFilter } = useRequestFilters();
  const { user_id, token_id } = filters;
  return (
    <RequestHistory
      scope="allUsers"
      range={range}
      filters={filters}
      onFilter={onFilter}
      name={keyAndOwner}
      fix={({ refusal, model }) => refusal?.reason === 'model_not_priced' && <PriceFix model={model} />}
    >
      <Group gap="sm" align="flex-start">
        <RangeFields today={today} state={state} onChange={setState} />
        <UserSelect
          aria-label={words.user}
          placeholder={words.allUsers}
          w={{ base: '100%', sm: 200 }}
          value={user_id}
          onChange={(id) => onFilter({ user_id: id, token_id: '' })}
        />
        <AnyKeySelect userId={user_id} value={token_id} onChange={(id) => onFilter({ token_id: id })} />
        <GatewaySelect value={filters.gateway_id} onChange={(id) => onFilter({ gateway_id: id })} />
      </Group>
    </RequestHistory>
  );
}
