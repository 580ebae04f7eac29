import { Text, Title } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { type PriceVersion, usePriceVersions } from '../../../api/adminPrices';
import { PAGE_SIZE } from '../../../api/page';
import { useUser } from '../../../api/session';
import { EmptyState } from '../../../shared/EmptyState';
import { LoadedTable } from '../../../shared/LoadedTable';
import { Pager } from '../../../shared/Pager';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { SetAgainDialog } from './SetAgainDialog';
import { versionColumns } from './versionColumns';

const words = texts.prices.history;

/** The versions of the price list, each of which can be set again. */
export function PriceVersions() {
  const { data, error, refetch } = usePriceVersions();
  const [page, setPage] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  const { dialog, row, open, close } = useRowDialog<'setAgain', PriceVersion>();
  const user = useUser();
  const inForce = data?.[0]?.number ?? 0;
  return (
    <section>
      <Title order={2} ref={heading} tabIndex={-1} mb={4}>
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {words.hint}
      </Text>
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={versionColumns(inForce, user, (version) => open('setAgain', version))}
        rows={data?.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)}
        rowKey={({ number }) => number}
        empty={<EmptyState icon={IconHistory} title={texts.prices.empty.title} />}
      />
      {data && <Pager page={page} pageSize={PAGE_SIZE} total={data.length} onChange={setPage} />}
      {row && (
        <SetAgainDialog
          key={row.number}
          version={row}
          inForce={inForce}
          opened={dialog === 'setAgain'}
          focusAfterSuccess={heading}
          onClose={close}
        />
      )}
    </section>
  );
}
