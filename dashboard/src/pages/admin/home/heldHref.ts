import type { HeldCharges } from '../../../api/adminOverview';
import { requestsHref } from '../../../shared/usage/requestFilters';
import { addPriceHref } from '../../prices/addPriceHref';

/** Where one ends, or looks for, the reason of charges that were their holds. */
export function heldHref({ model, reason }: Pick<HeldCharges, 'model' | 'reason'>): string {
  if (reason === 'model_not_priced') return addPriceHref(model);
  return requestsHref('allUsers', { outcome: 'charged', model });
}
