// The dialogs of the selected keys. Most visits select none.
export { AddQuotaDialog } from '../actions/AddQuotaDialog';
export { DisableKeysDialog } from '../actions/DisableKeysDialog';
export { ChangeKeysDialog } from './ChangeKeysDialog';
export { ReplaceKeysDialog } from './ReplaceKeysDialog';
