import type { ApiDocument } from '../../api/apiDocument';
import type { Operation } from './operations';

/** What the form contains. Parameters are empty if they are not sent. */
export interface Draft {
  /** By place and name, such as `query.page_size`. */
  parameters: Record<string, string>;
  /** JSON, if the operation has a body. */
  body: string;
  /** By security scheme, for operations that do not take the session. */
  credentials: Record<string, string>;
}

type SecuritySchemes = ApiDocument['components']['securitySchemes'];

export const parameterKey = (parameter: { in: string; name: string }) => `${parameter.in}.${parameter.name}`;

/** The path and query of a request. Missing path parameters stay as they are in the document: `{id}`. */
export function target({ path, parameters }: Operation, draft: Draft): string {
  const values = (place: string) =>
    parameters.flatMap((parameter) => {
      const value = draft.parameters[parameterKey(parameter)]?.trim();
      return parameter.in === place && value ? [[parameter.name, value] as [string, string]] : [];
    });
  const filled = values('path').reduce(
    (so, [name, value]) => so.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(values('query')).toString();
  return query ? `${filled}?${query}` : filled;
}

/** The headers without credentials. */
export function headersOf({ parameters, body }: Operation, draft: Draft): [string, string][] {
  const own = parameters.flatMap((parameter) => {
    const value = draft.parameters[parameterKey(parameter)]?.trim();
    return parameter.in === 'header' && value ? [[parameter.name, value] as [string, string]] : [];
  });
  return body ? [['content-type', 'application/json'], ...own] : own;
}

/** The header of a credential. */
export function credentialHeader(scheme: string, value: string, schemes: SecuritySchemes): [string, string] {
  const { type, name } = schemes[scheme] ?? { type: 'http' };
  return type === 'http' ? ['Authorization', `Bearer ${value}`] : [name ?? 'Authorization', value];
}

export type Missing = { kind: 'parameter'; name: string } | { kind: 'body' } | undefined;

/** What has to be filled in before the request can be sent. */
export function missing({ parameters, body }: Operation, draft: Draft): Missing {
  const absent = parameters.find(
    (parameter) => parameter.required && !draft.parameters[parameterKey(parameter)]?.trim(),
  );
  if (absent) return { kind: 'parameter', name: parameterKey(absent) };
  return body && !isJson(draft.body) ? { kind: 'body' } : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The request as a command for a shell. Credentials are variables, whatever the form contains. */
export function curl(operation: Operation, draft: Draft, schemes: SecuritySchemes, origin: string): string {
  const { method, body } = operation;
  const credentials = operation.schemes.map((scheme) => {
    const [name, value] = credentialHeader(scheme, `$${variable(scheme)}`, schemes);
    return `-H "${name}: ${value}"`;
  });
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(origin + target(operation, draft))}`,
    ...credentials,
    ...headersOf(operation, draft).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`-d ${quoted(compact(draft.body))}`] : []),
  ];
  return parts.join(' \\\n  ');
}

/** `access_token` is `$ACCESS_TOKEN`. */
function variable(scheme: string): string {
  return scheme.toUpperCase();
}

function compact(json: string): string {
  return isJson(json) ? JSON.stringify(JSON.parse(json)) : json;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
