import type { Settings } from '../../../api/adminSettings';
import { texts } from '../../../texts';

const words = texts.adminUsers.fields;

/** The groups to choose from. The present one stays, also if it is no longer in the settings. */
export function groupOptions(settings: Settings | undefined, present: string | undefined) {
  const names = settings?.groups.map(({ name }) => name) ?? [];
  const first =
    present === undefined
      ? [{ value: '', label: words.defaultGroup(initialGroup(settings)) }]
      : names.includes(present)
        ? []
        : [{ value: present, label: settings ? words.unknownGroup(present) : present }];
  return [...first, ...names.map((name) => ({ value: name, label: name }))];
}

/** The group of new accounts. */
function initialGroup(settings: Settings | undefined): string | undefined {
  const value = settings?.settings.find(({ name }) => name === 'accounts.initial_group')?.value;
  return typeof value === 'string' ? value : undefined;
}
