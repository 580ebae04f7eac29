import type { TokenFilter } from '../../api/chosenTokens';
import { limits } from '../../api/serverLimits';
import type { Token } from '../../api/tokens';
import type { SearchPlan } from './search';
import type { KeysView } from './useKeysView';

/** The filter of the API that matches the keys of a list. `undefined` if there is none, as for a part of a key. */
export function listFilter(
  { state, group }: Pick<KeysView, 'state' | 'group'>,
  plan: SearchPlan,
  shown: Token[],
): TokenFilter | undefined {
  if (plan.kind === 'none') return { state, group };
  const keyword = nameIn(plan);
  if (keyword === undefined || [...keyword].length < limits.search_characters) return undefined;
  const part = keyword.toLowerCase();
  // Searched locally, a text can also be the visible end of a key.
  const isNamed = ({ name }: Token) => plan.kind === 'server' || name.toLowerCase().includes(part);
  return shown.every(isNamed) ? { keyword, state, group } : undefined;
}

function nameIn(plan: SearchPlan): string | undefined {
  if (plan.kind === 'local') return plan.text;
  return plan.kind === 'server' && plan.search.by === 'name' ? plan.search.text : undefined;
}
