import type { Draft } from './draft';
import type { FieldErrors } from './validation';

/** What each part of the form is given. */
export interface FieldsProps {
  draft: Draft;
  errors: FieldErrors;
  onChange: (changes: Partial<Draft>) => void;
}
