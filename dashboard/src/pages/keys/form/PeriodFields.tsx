import { PeriodLimitFields } from '../../../shared/limits/PeriodLimitFields';
import type { FieldProps } from './FieldProps';

export function PeriodFields({ form, token }: FieldProps) {
  return <PeriodLimitFields form={form} usage={token?.period_usage} />;
}
