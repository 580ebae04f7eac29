import { Anchor, Group, Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { isKnown, type KnownRequest, type PastRequest } from '../../api/requestHistory';
import { useStatus } from '../../api/status';
import { Name } from '../../shared/Name';
import { PageHeader } from '../../shared/PageHeader';
import { RangeFields } from '../../shared/usage/RangeFields';
import { RequestHistory } from '../../shared/usage/RequestHistory';
import { todayIn } from '../../shared/usage/range';
import { useRange } from '../../shared/usage/useRange';
import { useRequestFilters } from '../../shared/usage/useRequestFilters';
import { texts } from '../../texts';
import { useFixes } from '../keys/fixes/useFixes';
import { OwnKeySelect } from './OwnKeySelect';

const words = texts.usage.requestHistory;

/** The single requests of this user. */
export default function RequestsPage() {
  const { data: status } = useStatus();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      {/* The days are those of the server. */}
      {status ? <Requests timeZone={status.time_zone} /> : <Skeleton h={420} radius="lg" />}
    </>
  );
}

function keyLink({ token_id, token_name }: KnownRequest) {
  return (
    <Anchor component={Link} href={`/keys/${token_id}`} size="sm" fw={600}>
      <Name>{token_name}</Name>
    </Anchor>
  );
}

function Requests({ timeZone }: { timeZone: string }) {
  const today = todayIn(timeZone, new Date());
  const { state, range, setState } = useRange(today);
  const { filters, onFilter } = useRequestFilters();
  const { fix, form } = useFixes();
  const fixOfRow = (row: PastRequest) =>
    isKnown(row) &&
    row.refusal &&
    fix({ id: row.token_id, name: row.token_name }, { ...row.refusal, model: row.model, ip: row.ip });
  return (
    <Stack gap="md">
      <RequestHistory
        scope="own"
        range={range}
        filters={filters}
        onFilter={onFilter}
        name={keyLink}
        fix={fixOfRow}
      >
        <Group gap="sm" align="flex-start">
          <RangeFields today={today} state={state} onChange={setState} />
          <OwnKeySelect value={filters.token_id} onChange={(token_id) => onFilter({ token_id })} />
        </Group>
      </RequestHistory>
      {form}
    </Stack>
  );
}
