import { texts } from '../texts';
import { stateTone } from './stateTone';

/** Shown also with no key, so that the list does not change its height when it loads. */
const ALWAYS = ['working', 'disabled', 'expired', 'used_up'];

/** The states to show with their numbers: those that a key is in, in the order of the texts, and four always. */
export function shownStates(counts: Record<string, number> = {}): string[] {
  const known = Object.keys(texts.common.keyState);
  const others = Object.keys(counts).filter((state) => !known.includes(state));
  return [...known, ...others].filter((state) => ALWAYS.includes(state) || counts[state]);
}

/** Those that stop keys which should work. Who disables a key or lets it expire wants that. */
export function stoppedStates(counts: Record<string, number>): [state: string, keys: number][] {
  return Object.entries(counts).filter(([state, keys]) => keys > 0 && stateTone(state) === 'bad');
}
