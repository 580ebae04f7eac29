export { ReplaceKeyDialog } from './ReplaceKeyDialog';
export { RevealedKeyDialog } from './RevealedKeyDialog';
