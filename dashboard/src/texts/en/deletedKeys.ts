import { plural } from './plural';

const count = (keys: number) => plural(keys, 'key', 'keys');

export const deletedKeys = {
  title: 'Deleted keys',
  description: 'Restoring a key brings it back as it was, with its quota and its limits.',
  columns: { name: 'Name', deleted: 'Deleted', until: 'Can be restored until' },
  restore: 'Restore',
  restoreOne: (name: string) => `Restore ${name}`,
  restored: (name: string) => `Restored “${name}”`,
  works: 'Programs that have its key can use it again.',
  ifLeaked: 'If the key leaked, replace it now.',
  show: 'Show this key',
  undone: (keys: number) => `Restored ${count(keys)}.`,
  someRefused: (refused: string, all: number, sentence: string) =>
    `${refused} of ${count(all)} weren’t restored. ${sentence}`,
  empty: {
    title: 'No deleted keys',
    hint: 'Keys that you delete are listed here for a while, so that you can restore them.',
  },
};
