import { ApiError } from '../api/error';
import { texts } from '../texts';
import { sentence } from './sentence';

/** Codes for which the message of the API says more: the field, the range or the values that it accepts. */
const DETAILED = new Set([
  'bad_request',
  'invalid_field',
  'missing_field',
  'invalid_query',
  'invalid_filter',
  'invalid_expiry',
  'invalid_quota',
  'invalid_period_limit',
  'invalid_rate_limit',
  'invalid_group',
  'invalid_ids',
  'invalid_text',
  'invalid_max_tokens',
  'invalid_count',
]);

/** What to tell people about a failure: the text for its code, or the message of the API if there is none. */
export function failureText(error: Error): string {
  if (!(error instanceof ApiError) || !isKnown(error.code)) return sentence(error.message);
  const text = texts.errors[error.code];
  return DETAILED.has(error.code) ? texts.common.failure.withDetails(text, sentence(error.message)) : text;
}

function isKnown(code: string): code is keyof typeof texts.errors {
  return Object.hasOwn(texts.errors, code);
}
