import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { requestsCsvHref, useRequestHistory } from '../../api/requestHistory';
import type { UsageScope } from '../../api/usageReports';
import { formatDateTime } from '../../format/time';
import { mayBeKey } from '../../shared/mayBeSecret';
import { SearchInput } from '../../shared/SearchInput';
import { CsvButton } from '../../shared/usage/CsvButton';
import { RefusedCount } from '../../shared/usage/RefusedCount';
import { RequestTable } from '../../shared/usage/RequestTable';
import { todayIn } from '../../shared/usage/range';
import { optionsOf, type RequestFilters } from '../../shared/usage/requestFilters';
import { useRequestFilters } from '../../shared/usage/useRequestFilters';
import { ZoneNote } from '../../shared/usage/ZoneNote';
import { useDebouncedText } from '../../shared/useDebouncedText';
import { texts } from '../../texts';
import { keyOfRow } from '../keys/remedies/remedies';
import { useRemedies } from '../keys/remedies/useRemedies';
import { RequestDrawer } from './details/RequestDrawer';
import { wholeDays } from './filters/span';
import { ModelFilter, ReasonFilter } from './filters/TextFilters';
import { TimeFilter } from './filters/TimeFilter';
import { useSpan } from './filters/useSpan';
import { useOpenRequest } from './useOpenRequest';

const words = texts.usage.requestHistory;

interface Props {
  scope: UsageScope;
  /** The time zone of the server, in which days are. */
  timeZone: string;
  /** Filters that the scope has besides those that all have. */
  extraFilters: (filters: RequestFilters, onFilter: (change: Partial<RequestFilters>) => void) => ReactNode;
}

/** Single requests, by filters that the address has, and the details of one. */
export function RequestHistory({ scope, timeZone, extraFilters }: Props) {
  const today = todayIn(timeZone, new Date());
  const { filters, onFilter } = useRequestFilters();
  const { span, setSpan } = useSpan(today);
  const { id, hrefOf, close } = useOpenRequest(scope);
  const { show, forms, isFormOpen } = useRemedies();
  const wanted = { ...optionsOf(filters), scope, range: { start: span.start, end: span.end } };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRequestHistory(wanted);
  const rows = data?.pages.flatMap(({ items }) => items);
  const days = wholeDays(span);
  const requestId = useDebouncedText(
    filters.request_id,
    (text) => onFilter({ request_id: text.trim() }),
    (text) => !mayBeKey(text),
  );

  return (
    <section>
      <Group gap="sm" mb="sm" align="flex-start">
        <SearchInput
          label={texts.requests.search}
          value={requestId.text}
          onChange={requestId.type}
          hint={mayBeKey(requestId.text) && texts.requests.looksLikeKey}
        />
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
      </Group>
      <Group gap="xs" mb="md" role="group" aria-label={texts.requests.filters.label}>
        <TimeFilter today={today} timeZone={timeZone} span={span} onChange={setSpan} />
        {extraFilters(filters, onFilter)}
        <ModelFilter value={filters.model} onChange={(model) => onFilter({ model })} />
        {filters.outcome === 'refused' && (
          <ReasonFilter value={filters.reason} onChange={(reason) => onFilter({ reason })} />
        )}
        <CsvButton href={requestsCsvHref(wanted)} label={words.export} />
      </Group>
      <ZoneNote />
      {rows && days && <RefusedCount scope={scope} range={days} filters={filters} rows={rows} />}
      <RequestTable
        label={words.title}
        scope={scope}
        rows={rows}
        hrefOf={hrefOf}
        error={error}
        onRetry={refetch}
        empty={
          <Text p="lg" c="dimmed">
            {hasNextPage ? words.searchGoesOn : emptyText()}
          </Text>
        }
      />
      {hasNextPage && (
        <Button variant="default" mt="sm" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {words.older}
        </Button>
      )}
      <RequestDrawer
        scope={scope}
        id={id}
        listed={rows?.find((row) => row.id === id)}
        remedy={(row) => show(row.refusal?.remedy, keyOfRow(row))}
        isCovered={isFormOpen}
        onClose={close}
      />
      {forms}
    </section>
  );

  /** An ID is searched for in all time. If there is too much of it, the answer says where it was. */
  function emptyText(): string {
    const from = data?.pages[0]?.searched_from;
    return from == null ? words.empty : texts.requests.searchedFrom(formatDateTime(from));
  }
}
