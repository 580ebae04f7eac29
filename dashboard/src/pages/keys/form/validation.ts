import type { FormErrors } from '@mantine/form';
import { ApiError, type ErrorCode } from '../../../api/error';
import { failureText } from '../../../format/failure';
import { type Draft, fieldList } from './fields';

/** The fields that the API would refuse, in the order of the form. Inputs of one field have a path, such as `period_limits.day`. */
export function validate(draft: Draft): FormErrors {
  const errors: FormErrors = {};
  for (const [name, { error, shown }] of fieldList) {
    if (shown && !shown(draft)) continue;
    const found = error?.(draft[name], draft);
    if (typeof found !== 'object') errors[name] = found;
    else for (const [input, text] of Object.entries(found)) errors[`${name}.${input}`] = text;
  }
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error !== undefined));
}

/** The text for a refusal by the API, at the field it is about. Empty if that field is not shown. */
export function fieldErrorsOf(failure: Error | null, draft: Draft): FormErrors {
  if (!(failure instanceof ApiError)) return {};
  const about = fieldList.find(([, { refusals }]) => refusals?.includes(failure.code as ErrorCode));
  if (!about) return {};
  const [name, { shown, hasInput }] = about;
  const isThere = (!shown || shown(draft)) && (!hasInput || hasInput(draft[name]));
  return isThere ? { [name]: failureText(failure) } : {};
}
