import type { DailyUsage } from '../../../api/dailyUsage';
import { usdInput } from '../../../format/money';
import { unitsOf } from '../../../format/usage';

/** Quotes a value with a comma, a quotation mark or a line break (RFC 4180). */
function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows: (string | number)[][]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** One line per day. The header uses the field names of the API. */
export function usageCsv({ token_id, token_name, daily }: DailyUsage): string {
  const header = ['token_id', 'token_name', 'date', 'usd', 'requests', 'prompt_tokens', 'completion_tokens'];
  const lines = daily.map((day) => [
    token_id,
    escapeFormula(token_name),
    day.date,
    usdInput(unitsOf(day.usd)),
    day.requests,
    day.prompt_tokens,
    day.completion_tokens,
  ]);
  return csv([header, ...lines]);
}

/** Prevents spreadsheets from running the text as a formula. */
function escapeFormula(text: string): string {
  return /^[=+\-@]/.test(text) ? `'${text}` : text;
}

/** For example "production-2026-03-01-2026-03-07.csv". */
export function usageFileName({ token_id, token_name, start_date, end_date }: DailyUsage): string {
  const name = token_name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  const days = start_date === end_date ? start_date : `${start_date}-${end_date}`;
  return `${name || `key-${token_id}`}-${days}.csv`;
}
