import { Button, Group, SegmentedControl, Select, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { type PastRequest, requestsCsvHref, useRequestHistory } from '../../api/requestHistory';
import type { UsageScope } from '../../api/usageReports';
import { texts } from '../../texts';
import { CopyButton } from '../CopyButton';
import type { Column } from '../DataTable';
import { LoadedTable } from '../LoadedTable';
import { useDebouncedText } from '../useDebouncedText';
import { CsvButton } from './CsvButton';
import { RefusedCount } from './RefusedCount';
import { reasonText } from './RefusedRequests';
import { type KeyName, requestColumns } from './requestColumns';
import { optionsOf, type RequestFilters, requestsHref } from './requestFilters';
import { ZoneNote } from './ZoneNote';

const words = texts.usage.requestHistory;
const reasons = Object.keys(texts.usage.refused.reasons);

interface Props {
  scope: UsageScope;
  range: { start: string; end: string };
  filters: RequestFilters;
  onFilter: (change: Partial<RequestFilters>) => void;
  name: KeyName;
  /** What ends a refusal. */
  fix?: (row: PastRequest) => ReactNode;
  /** Filters before the others. */
  children?: ReactNode;
}

/** Single requests, by filters that the address has. */
export function RequestHistory({ scope, range, filters, onFilter, name, fix, children }: Props) {
  const wanted = { ...optionsOf(filters), scope, ...(filters.id ? {} : { range }) };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRequestHistory(wanted);
  const rows = data?.pages.flatMap(({ items }) => items);
  const model = useDebouncedText(filters.model, (text) => onFilter({ model: text.trim() }), always);
  const requestId = useDebouncedText(
    filters.request_id,
    (text) => onFilter({ request_id: text.trim() }),
    always,
  );
  const actions: Column<PastRequest> = {
    key: 'actions',
    place: 'actions',
    align: 'right',
    cell: (row) => (
      <Group gap="xs" wrap="nowrap" justify="flex-end">
        {fix?.(row)}
        <CopyButton
          value={`${window.location.origin}${requestsHref(scope, { id: row.id })}`}
          label={words.copyLink}
        />
      </Group>
    ),
  };
  return (
    <section>
      {filters.id ? (
        <Button variant="default" mb="md" onClick={() => onFilter({ id: '' })}>
          {words.showAll}
        </Button>
      ) : (
        <Group gap="sm" mb="md" align="flex-start">
          {children}
          <SegmentedControl
            aria-label={words.outcome}
            data={[
              { value: '', label: words.all },
              { value: 'charged', label: words.charged },
              { value: 'refused', label: words.refused },
              ...(filters.outcome === 'imported' ? [{ value: 'imported', label: words.imported }] : []),
            ]}
            value={filters.outcome}
            onChange={(outcome) => onFilter({ outcome: outcome as RequestFilters['outcome'], reason: '' })}
          />
          {filters.outcome === 'refused' && (
            <Select
              aria-label={texts.usage.refused.reason}
              placeholder={words.anyReason}
              w={{ base: '100%', sm: 260 }}
              clearable
              clearButtonProps={{ 'aria-label': texts.adminLists.clearSelection }}
              data={(filters.reason && !reasons.includes(filters.reason)
                ? [...reasons, filters.reason]
                : reasons
              ).map((value) => ({ value, label: reasonText(value) }))}
              value={filters.reason || null}
              onChange={(reason) => onFilter({ reason: reason ?? '' })}
            />
          )}
          <TextInput
            aria-label={words.model}
            placeholder={words.model}
            w={{ base: '100%', sm: 180 }}
            value={model.text}
            onChange={(event) => model.type(event.currentTarget.value)}
          />
          <TextInput
            aria-label={words.requestId}
            placeholder={words.requestId}
            w={{ base: '100%', sm: 240 }}
            value={requestId.text}
            onChange={(event) => requestId.type(event.currentTarget.value)}
          />
          <CsvButton href={requestsCsvHref(wanted)} label={words.export} />
        </Group>
      )}
      <ZoneNote />
      {rows && <RefusedCount scope={scope} range={range} filters={filters} rows={rows} />}
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={[...requestColumns(name), actions]}
        rows={rows}
        rowKey={({ id }) => id}
        empty={
          <Text p="lg" c="dimmed">
            {hasNextPage ? words.searchGoesOn : filters.id ? words.notKept : words.empty}
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

const always = () => true;
