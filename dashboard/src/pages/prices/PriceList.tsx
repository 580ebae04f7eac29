import { Box, Paper, Text } from '@mantine/core';
import { IconTag } from '@tabler/icons-react';
import { PAGE_SIZE } from '../../api/page';
import { usePrices } from '../../api/prices';
import { EmptyState } from '../../shared/EmptyState';
import { LoadedTable } from '../../shared/LoadedTable';
import { NoMatches } from '../../shared/NoMatches';
import { Pager } from '../../shared/Pager';
import { SearchInput } from '../../shared/SearchInput';
import { useDebouncedText } from '../../shared/useDebouncedText';
import { useListQuery } from '../../shared/useListQuery';
import { texts } from '../../texts';
import { InForce } from './InForce';
import { priceColumns } from './priceColumns';
import { rowsOf, withName } from './priceRows';

const words = texts.prices;

/** The prices in force, a page of them at a time: there can be thousands. */
export function PriceList() {
  const { data, error, refetch } = usePrices();
  const { filters, page, setFilters, setPage } = useListQuery(['q']);
  const search = useDebouncedText(filters.q, (q) => setFilters({ q: q.trim() }), always);
  if (data?.prices.length === 0) {
    return (
      <Paper p={0}>
        <EmptyState icon={IconTag} title={words.empty.title} hint={words.empty.hint} />
      </Paper>
    );
  }
  const found = withName(data?.prices ?? [], filters.q);
  // The list may have become shorter.
  const shown = Math.min(page, Math.max(0, Math.ceil(found.length / PAGE_SIZE) - 1));
  return (
    <section>
      {data && <InForce since={data.since} />}
      <Box my="md">
        <SearchInput label={words.search} value={search.text} onChange={search.type} />
      </Box>
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={priceColumns(data?.prices ?? [])}
        rows={data && rowsOf(found.slice(shown * PAGE_SIZE, (shown + 1) * PAGE_SIZE))}
        rowKey={({ model, prompts }) => `${prompts?.of} ${model}`}
        empty={<NoMatches onClear={() => search.type('')} />}
      />
      <Pager page={shown} pageSize={PAGE_SIZE} total={found.length} onChange={setPage} />
      <Text size="sm" c="dimmed" mt="sm">
        {words.star}
      </Text>
    </section>
  );
}

const always = () => true;
