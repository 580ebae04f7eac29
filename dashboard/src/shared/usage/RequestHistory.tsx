import { Button, Group, SegmentedControl, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import {
  isKnown,
  type KnownRequest,
  type PastRequest,
  type RequestOptions,
  requestsCsvHref,
  useRequestHistory,
} from '../../api/requestHistory';
import { formatInteger } from '../../format/locale';
import { formatMoment } from '../../format/time';
import { texts } from '../../texts';
import type { Column } from '../DataTable';
import { LoadedTable } from '../LoadedTable';
import { Money } from '../Money';
import { Name } from '../Name';
import { CsvButton } from './CsvButton';
import { reasonText } from './RefusedRequests';

const words = texts.usage.requestHistory;
const PAUSE_MS = 300;

interface Props extends Omit<RequestOptions, 'model' | 'requestId' | 'outcome'> {
  /** The name of the key of a row, with a link. Absent for a single key. */
  name?: (row: KnownRequest) => ReactNode;
}

type Outcome = RequestOptions['outcome'];

/**
 * Single requests: when, which model, what it cost or why it was refused, and by which ids a provider or a gateway finds it
 * again.
 */
export function RequestHistory({ name, ...options }: Props) {
  const [typed, setTyped] = useState({ model: '', requestId: '' });
  const [outcome, setOutcome] = useState<Outcome>('');
  const [filter] = useDebouncedValue(typed, PAUSE_MS);
  const model = filter.model.trim();
  const requestId = filter.requestId.trim();
  const wanted = { ...options, model, requestId, outcome };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRequestHistory(wanted);
  const rows = data?.pages.flatMap(({ items }) => items);
  const keyOf = (row: PastRequest) => (isKnown(row) ? name?.(row) : texts.usage.refused.reasons.invalid_key);
  const key: Column<PastRequest>[] = name ? [{ key: 'key', header: texts.usage.key, cell: keyOf }] : [];
  return (
    <section>
      <Title order={2} mb={4}>
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {words.description}
      </Text>
      <Group gap="sm" mb="md">
        <SegmentedControl
          aria-label={words.outcome}
          data={[
            { value: '', label: words.all },
            { value: 'charged', label: words.charged },
            { value: 'refused', label: words.refused },
          ]}
          value={outcome}
          onChange={(value) => setOutcome(value as Outcome)}
        />
        <TextInput
          aria-label={words.model}
          placeholder={words.model}
          w={{ base: '100%', sm: 220 }}
          value={typed.model}
          onChange={({ currentTarget: { value } }) => setTyped((old) => ({ ...old, model: value }))}
        />
        <TextInput
          aria-label={words.requestId}
          placeholder={words.requestId}
          w={{ base: '100%', sm: 280 }}
          value={typed.requestId}
          onChange={({ currentTarget: { value } }) => setTyped((old) => ({ ...old, requestId: value }))}
        />
        <CsvButton href={requestsCsvHref(wanted)} label={words.export} />
      </Group>
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={[time, ...key, modelColumn, tokens, cost, source]}
        rows={rows}
        rowKey={({ id }) => id}
        empty={
          <Text p="lg" c="dimmed">
            {hasNextPage ? words.searchGoesOn : words.empty}
          </Text>
        }
      />
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {words.older}
        </Button>
      )}
    </section>
  );
}

const time: Column<PastRequest> = {
  key: 'time',
  header: words.time,
  place: 'title',
  cell: ({ at }) => <span className="tabular">{formatMoment(at)}</span>,
};

const modelColumn: Column<PastRequest> = {
  key: 'model',
  header: texts.usage.model,
  cell: ({ model }) => <Name>{model || texts.usage.noModel}</Name>,
};

const tokens: Column<PastRequest> = {
  key: 'tokens',
  header: texts.usage.tokens,
  align: 'right',
  cell: ({ prompt_tokens, completion_tokens, refusal }) => (
    <span className="tabular">
      {refusal ? '' : words.inAndOut(formatInteger(prompt_tokens), formatInteger(completion_tokens))}
    </span>
  ),
};

const cost: Column<PastRequest> = {
  key: 'cost',
  header: words.cost,
  align: 'right',
  cell: ({ quota, shortfall, refusal }) =>
    refusal ? (
      <Refused {...refusal} />
    ) : (
      <>
        <Money units={quota} fine fw={600} />
        {shortfall > 0 && (
          <Text size="xs" c="dimmed">
            {words.shortfall} <Money units={shortfall} fine />
          </Text>
        )}
      </>
    ),
};

/** Why, and how many more like it have no row. */
function Refused({ reason, message, suppressed }: NonNullable<PastRequest['refusal']>) {
  return (
    <>
      <Text size="sm" fw={600} c="var(--km-bad)" title={message}>
        {reasonText(reason)}
      </Text>
      {suppressed > 0 && (
        <Text size="xs" c="dimmed">
          {words.suppressed(suppressed)}
        </Text>
      )}
    </>
  );
}

const source: Column<PastRequest> = {
  key: 'source',
  header: words.requestId,
  cell: ({ request_id, gateway_name, gateway_id, ip }) => {
    const gateway = gateway_name ?? (gateway_id && words.removedGateway(gateway_id));
    return (
      <div style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm">{request_id ?? words.noId}</Text>
        <Text size="xs" c="dimmed">
          {[gateway, ip].filter(Boolean).join(' · ')}
        </Text>
      </div>
    );
  },
};
