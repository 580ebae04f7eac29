import type { FormErrors } from '@mantine/form';
import { ApiError, type ErrorCode } from '../../api/error';
import { failureText } from '../../format/failure';

/** Shows failures with these codes at these fields, for `refusals` of `useSendForm`. */
export function atField(fields: Partial<Record<ErrorCode, string>>) {
  return (failure: Error): FormErrors => {
    const field = failure instanceof ApiError ? fields[failure.code as ErrorCode] : undefined;
    return field ? { [field]: failureText(failure) } : {};
  };
}
