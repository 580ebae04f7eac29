import type { Draft } from './draft';
import type { FieldErrors } from './validation';

/** The props of each part of the form. */
export interface FieldsProps {
  draft: Draft;
  errors: FieldErrors;
  onChange: (changes: Partial<Draft>) => void;
}
