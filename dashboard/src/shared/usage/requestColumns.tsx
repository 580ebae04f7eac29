import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { isKnown, type KnownRequest, type PastRequest } from '../../api/requestHistory';
import { formatInteger } from '../../format/locale';
import { formatMoment } from '../../format/time';
import { texts } from '../../texts';
import type { Column } from '../DataTable';
import { Money } from '../Money';
import { Name } from '../Name';
import { reasonText } from './RefusedRequests';

const words = texts.usage.requestHistory;

/** The name of the key of a row, with a link. */
export type KeyName = (row: KnownRequest) => ReactNode;

/** When, which model, what it cost or why it was refused, and by which ids a provider or a gateway finds it again. */
export function requestColumns(name?: KeyName): Column<PastRequest>[] {
  const keyOf = (row: PastRequest) => (isKnown(row) ? name?.(row) : texts.usage.refused.reasons.invalid_key);
  const key: Column<PastRequest>[] = name ? [{ key: 'key', header: texts.usage.key, cell: keyOf }] : [];
  return [time, ...key, modelColumn, tokens, cost, source];
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
    <span className="tabular unbroken">
      {refusal ? '' : words.inAndOut(formatInteger(prompt_tokens), formatInteger(completion_tokens))}
    </span>
  ),
};

const cost: Column<PastRequest> = {
  key: 'cost',
  header: words.cost,
  align: 'right',
  cell: ({ quota, shortfall, refusal, outcome }) =>
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
        {outcome === 'imported' && (
          <Text size="xs" c="dimmed">
            {words.imported}
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
