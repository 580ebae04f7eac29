import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { usePrices } from '../../api/prices';
import { isAdministrator, useUser } from '../../api/session';
import { sentence } from '../../format/sentence';
import { PageHeader } from '../../shared/PageHeader';
import { useListQuery } from '../../shared/useListQuery';
import { texts } from '../../texts';
import { AddPrice } from './AddPrice';
import { PriceList } from './PriceList';

const words = texts.prices;

/** What models cost. Administrators also see how to add a price, and why new prices are not in force. */
export default function PricesPage() {
  const isAdmin = isAdministrator(useUser());
  const refused = usePrices().data?.refused;
  const { add } = useListQuery(['add']).filters;
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack gap="md">
        {refused && (
          <Alert color="yellow" icon={<IconAlertTriangle size={18} />} role="alert">
            <Text size="sm" fw={600}>
              {words.refused}
            </Text>
            <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
              {sentence(refused)}
            </Text>
          </Alert>
        )}
        {isAdmin && add && <AddPrice model={add} />}
        <PriceList />
        {isAdmin && !add && <AddPrice model="" />}
      </Stack>
    </>
  );
}
