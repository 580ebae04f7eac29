// Loaded only for administrators.
export { PriceEditor } from './PriceEditor';
export { PriceVersions } from './PriceVersions';
