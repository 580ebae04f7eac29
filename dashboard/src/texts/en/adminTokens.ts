import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';

const listed = formatInteger(limits.listed_tokens);

export const adminTokens = {
  title: 'All keys',
  description: 'Every user’s keys. Only owners can see the secrets.',
  keyHint: `Enter at least the first or last ${limits.key_hint_characters} characters.`,
  truncated: `There are more than ${listed} keys. The filter and order apply to the newest ${listed}.`,
  owner: 'Owner',
  allOwners: 'All owners',
  columns: {
    name: 'Key',
    owner: 'Owner',
    status: 'Status',
    quota: 'Quota',
    expires: 'Expires',
    lastUsed: 'Last used',
  },
  neverUsed: 'never',
  switch: (name: string) => `Allow requests with ${name}`,
  audit: (name: string) => `Audit log for ${name}`,
  empty: { title: 'No keys yet', hint: 'Keys appear here once users create them.' },
};
