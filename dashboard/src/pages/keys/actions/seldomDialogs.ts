export { AddQuotaDialog } from './AddQuotaDialog';
export { DisableKeysDialog } from './DisableKeysDialog';
export { ReplaceKeyDialog } from './ReplaceKeyDialog';
export { RevealedKeyDialog } from './RevealedKeyDialog';
