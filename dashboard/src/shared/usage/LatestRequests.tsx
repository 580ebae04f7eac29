import { Anchor, Group, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { type RequestOptions, useRequestHistory } from '../../api/requestHistory';
import { texts } from '../../texts';
import { RequestTable } from './RequestTable';
import { requestsHref } from './requestFilters';
import { ZoneNote } from './ZoneNote';

const words = texts.usage.requestHistory;
const ROWS = 5;

type Props = Pick<RequestOptions, 'scope' | 'range' | 'tokenId' | 'userId'>;

/** The newest requests of these days, with a link to all. */
export function LatestRequests(options: Props) {
  const { data, error, refetch } = useRequestHistory(options, ROWS);
  const { scope = 'own', range, tokenId, userId } = options;
  const days = range && { range: 'custom', from: range.start, to: range.end };
  const shown = { token_id: tokenId, user_id: userId, ...days };
  return (
    <section>
      <Group justify="space-between" mb="md">
        <Title order={2}>{words.latest}</Title>
        <Anchor component={Link} href={requestsHref(scope, shown)} size="sm">
          {words.showAll}
        </Anchor>
      </Group>
      <ZoneNote />
      <RequestTable
        label={words.latest}
        scope={scope}
        isOfOneKey={tokenId !== undefined}
        rows={data?.pages[0]?.items}
        hrefOf={(id) => requestsHref(scope, { ...shown, id })}
        error={error}
        onRetry={refetch}
        empty={
          <Text p="lg" c="dimmed">
            {words.empty}
          </Text>
        }
      />
    </section>
  );
}
