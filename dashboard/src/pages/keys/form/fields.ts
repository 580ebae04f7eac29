import type { Draft } from './draft';
import type { Mistakes } from './mistakes';

/** What each part of the form is given. */
export interface FieldsProps {
  draft: Draft;
  mistakes: Mistakes;
  onChange: (changes: Partial<Draft>) => void;
}
