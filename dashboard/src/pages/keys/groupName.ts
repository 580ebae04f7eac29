import { texts } from '../../texts';

/** The gateway picks the group. */
export const AUTO = 'auto';

/** Of the API's filters, for keys without a group. */
export const OWN = 'own';

export function groupName(group: string): string {
  if (group === '') return texts.keys.ownGroup;
  return group === AUTO ? texts.keys.autoGroup : group;
}
