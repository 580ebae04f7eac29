import { Text } from '@mantine/core';
import { isAdministrator, useUser } from '../../../api/session';
import { texts } from '../../../texts';
import { addPriceHref } from '../../prices/addPriceHref';
import { FixLink } from './FixButton';

const words = texts.usage.fixes;

/** Of a refusal of a model without a price. Only administrators can add one. */
export function PriceFix({ model }: { model?: string | null }) {
  if (isAdministrator(useUser())) {
    return <FixLink label={words.addPrice} name={model || texts.usage.noModel} href={addPriceHref(model)} />;
  }
  return (
    <Text size="sm" c="dimmed" maw={220}>
      {words.askForPrice}
    </Text>
  );
}
