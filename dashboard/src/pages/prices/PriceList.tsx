import { Group, SegmentedControl, Text } from '@mantine/core';
import { IconTag } from '@tabler/icons-react';
import { type Price, usePrices } from '../../api/prices';
import { joined } from '../../format/space';
import { EmptyState } from '../../shared/EmptyState';
import { NoMatches } from '../../shared/NoMatches';
import { SearchInput } from '../../shared/SearchInput';
import { useDebouncedText } from '../../shared/useDebouncedText';
import { useListQuery } from '../../shared/useListQuery';
import { texts } from '../../texts';
import { PagedTable } from '../admin/shared/PagedTable';
import { InForce } from './InForce';
import { priceColumns } from './priceColumns';

const words = texts.prices;
const OWN = 'true';

/** The prices in force, a page of them at a time: there can be thousands. */
export function PriceList({ onCalculate }: { onCalculate: (price: Price) => void }) {
  const { filters, page, setFilters, setPage } = useListQuery(['q', 'own']);
  const own = filters.own === OWN;
  const prices = usePrices({ keyword: filters.q, own }, page);
  const search = useDebouncedText(filters.q, (q) => setFilters({ q: q.trim() }), always);
  const { data } = prices;
  const isFiltered = filters.q !== '' || own;

  function clear() {
    search.type('');
    setFilters({ q: '', own: '' });
  }

  return (
    <section>
      {data && data.version > 0 && <InForce since={data.since} />}
      <Group my="md" gap="sm">
        <SearchInput label={words.search} value={search.text} onChange={search.type} />
        <SegmentedControl
          aria-label={words.own.label}
          data={[
            { value: '', label: words.own.all },
            { value: OWN, label: words.own.only },
          ]}
          value={own ? OWN : ''}
          onChange={(value) => setFilters({ own: value })}
        />
      </Group>
      <PagedTable
        label={words.title}
        columns={priceColumns(onCalculate)}
        query={prices}
        rowKey={({ model, provider, own }) => `${own} ${provider} ${model}`}
        page={page}
        onPage={setPage}
        empty={isFiltered ? <NoMatches onClear={clear} /> : <EmptyState icon={IconTag} {...words.empty} />}
      />
      <Text size="sm" c="dimmed" mt="sm">
        {joined(words.notes.star, words.notes.whole)}
      </Text>
    </section>
  );
}

const always = () => true;
