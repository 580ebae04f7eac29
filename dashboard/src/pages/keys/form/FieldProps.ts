import type { UseFormReturnType } from '@mantine/form';
import type { Token } from '../../../api/tokens';
import type { Draft } from './fields';

/** The props of each field of the form. */
export interface FieldProps {
  form: UseFormReturnType<Draft>;
  /** Absent for a new token. */
  token: Token | undefined;
}
