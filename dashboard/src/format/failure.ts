import { ApiError, type ErrorCode } from '../api/error';
import { texts } from '../texts';
import { textOf } from '../texts/textOf';
import { sentence } from './sentence';

/** Codes for which the message of the API says more, such as the field, the range or the values that it accepts. */
const DETAILED: ReadonlySet<string> = new Set<ErrorCode>([
  'bad_request',
  'invalid_field',
  'missing_field',
  'invalid_query',
  'invalid_filter',
  'invalid_expiry',
  'invalid_quota',
  'invalid_usd',
  'invalid_period_limit',
  'invalid_rate_limit',
  'invalid_ids',
  'invalid_text',
  'invalid_max_tokens',
  'invalid_count',
  'invalid_prices',
  'prices_need_acceptance',
  'model_not_priced',
]);

/** What to tell people about a failure: the text for its code, or the message of the API if there is none. */
export function failureText(error: Error): string {
  const text = withoutName(error);
  return error instanceof ApiError && error.about ? texts.common.failure.about(error.about, text) : text;
}

function withoutName(error: Error): string {
  const code = error instanceof ApiError ? error.code : '';
  const text = textOf(texts.errors, code);
  if (text === undefined) return sentence(error.message);
  return DETAILED.has(code) ? texts.common.failure.withDetails(text, sentence(error.message)) : text;
}
