import type { ApiDocument } from '../../api/apiDocument';
import type { Operation } from './operations';
import { credentialHeader, type Draft, headersOf, target } from './request';

export interface Result {
  status: number;
  /** Until the whole body was there. */
  milliseconds: number;
  contentType: string;
  requestId: string | null;
  /** Indented if it is JSON. */
  body: string;
  /** How many characters of the body are not in `body`. */
  cut: number;
}

const TIMEOUT_MS = 40_000;
/** Longer answers make the page slow. */
const MAX_CHARACTERS = 100_000;

/** Sends a request, with the session or with the credentials of the form. Nothing of it is cached. */
export async function send(operation: Operation, draft: Draft, document: ApiDocument): Promise<Result> {
  const { securitySchemes } = document.components;
  const credentials = operation.takesSession
    ? []
    : operation.schemes.flatMap((scheme) => {
        const value = draft.credentials[scheme]?.trim();
        return value ? [credentialHeader(scheme, value, securitySchemes)] : [];
      });
  const begin = performance.now();
  const response = await fetch(target(operation, draft), {
    method: operation.method,
    headers: [...headersOf(operation, draft), ...credentials],
    body: operation.body ? draft.body : undefined,
    credentials: operation.takesSession ? 'same-origin' : 'omit',
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  const milliseconds = performance.now() - begin;
  const body = indented(text);
  return {
    status: response.status,
    milliseconds,
    contentType: response.headers.get('content-type') ?? '',
    requestId: response.headers.get('x-request-id'),
    body: body.slice(0, MAX_CHARACTERS),
    cut: Math.max(0, body.length - MAX_CHARACTERS),
  };
}

export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
