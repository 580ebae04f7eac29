import { Anchor, Group, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { type RequestOptions, useRequestHistory } from '../../api/requestHistory';
import { texts } from '../../texts';
import { LoadedTable } from '../LoadedTable';
import { type KeyName, requestColumns } from './requestColumns';
import { requestsHref } from './requestFilters';
import { ZoneNote } from './ZoneNote';

const words = texts.usage.requestHistory;
const ROWS = 5;

interface Props extends Pick<RequestOptions, 'scope' | 'range' | 'tokenId' | 'userId'> {
  /** Absent for a single key. */
  name?: KeyName;
}

/** The newest requests of these days, with a link to all. */
export function LatestRequests({ name, ...options }: Props) {
  const { data, error, refetch } = useRequestHistory(options, ROWS);
  const { scope = 'own', range, tokenId, userId } = options;
  const days = range && { range: 'custom', from: range.start, to: range.end };
  return (
    <section>
      <Group justify="space-between" mb="md">
        <Title order={2}>{words.latest}</Title>
        <Anchor
          component={Link}
          href={requestsHref(scope, { token_id: tokenId, user_id: userId, ...days })}
          size="sm"
        >
          {words.showAll}
        </Anchor>
      </Group>
      <ZoneNote />
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.latest}
        columns={requestColumns(name)}
        rows={data?.pages[0]?.items}
        rowKey={({ id }) => id}
        empty={
          <Text p="lg" c="dimmed">
            {words.empty}
          </Text>
        }
      />
    </section>
  );
}
