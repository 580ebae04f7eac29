import { formatInteger } from '../../format/locale';
import { FailureMessage } from '../../shared/FailureMessage';
import { useSecondsLeft } from '../../shared/useSecondsLeft';
import { texts } from '../../texts';
import type { SearchPlan } from './search';

const words = texts.keys.search;

/** Says why the list does not show a new result. */
export function SearchHint({ plan, failure }: { plan: SearchPlan; failure: Error | null }) {
  const left = useSecondsLeft(failure);
  if (plan.kind === 'too_short') return words.tooShort;
  if (plan.kind === 'too_many_wildcards') return words.tooManyWildcards;
  if (left !== undefined) return words.retryingIn(formatInteger(left));
  return failure && <FailureMessage error={failure} />;
}
