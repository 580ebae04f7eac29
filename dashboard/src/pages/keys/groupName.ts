import { texts } from '../../texts';
import { AUTO } from './form/draft';

export function groupName(group: string): string {
  if (group === '') return texts.keys.ownGroup;
  return group === AUTO ? texts.keys.autoGroup : group;
}
