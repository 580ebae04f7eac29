/** `pending` is the default. */
export const stateFilters = ['pending', 'approved', 'refused', 'all'] as const;
export type StateFilter = (typeof stateFilters)[number];

export function stateFilterOf(text: string): StateFilter {
  return stateFilters.find((state) => state === text) ?? 'pending';
}
