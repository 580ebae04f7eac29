import { Stack } from '@mantine/core';
import { isAdministrator, useUser } from '../../api/session';
import { PageHeader } from '../../shared/PageHeader';
import { useListQuery } from '../../shared/useListQuery';
import { texts } from '../../texts';
import { AddPrice } from './AddPrice';
import { PriceList } from './PriceList';

const words = texts.prices;

/** What models cost. Administrators also see how to add a price. */
export default function PricesPage() {
  const isAdmin = isAdministrator(useUser());
  const { add } = useListQuery(['add']).filters;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="md">
        {isAdmin && add && <AddPrice model={add} />}
        <PriceList />
        {isAdmin && !add && <AddPrice model="" />}
      </Stack>
    </>
  );
}
