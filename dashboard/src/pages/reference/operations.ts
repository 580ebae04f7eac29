import type { ApiDocument, OperationObject, Parameter, Schema } from '../../api/apiDocument';

export interface Operation {
  id: string;
  method: string;
  path: string;
  /** The resource that it belongs to. */
  tag: string;
  summary: string;
  description: string;
  parameters: Parameter[];
  body?: Schema;
  answers: Answer[];
  /** Who can call it: a permission of the document, or `anyone`. */
  permission: string;
  /** True if the session of the dashboard is a credential for it, or if it needs none. */
  takesSession: boolean;
  /** The security schemes that a request without a session needs, all of them. */
  schemes: string[];
}

interface Answer {
  status: string;
  description: string;
  /** The stable codes of a failure. */
  codes: string[];
  /** By content type. */
  content: [type: string, schema: Schema | undefined][];
  headers: [name: string, description: string][];
}

export interface Group {
  tag: string;
  operations: Operation[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The order of resources: first what most readers look for. */
const TAGS = ['tokens', 'usage', 'accounts', 'gateway', 'drop-in', 'administration', 'operation'];

/** Operations that only read although their method is POST. */
const READS_BY_POST = ['search_by_post', 'search_tokens', 'verify', 'show_cost', 'compare_price_list'];

/** Operations that change something although their method is GET. */
const CHANGES_BY_GET = ['mint', 'logout'];

/** Operations whose answers contain a key or a credential. */
const WITH_SECRETS = [
  'create',
  'show_token',
  'key',
  'keys',
  'mint',
  'create_access_token',
  'create_gateway',
  'create_credential',
];

export const KNOWN_OPERATIONS = [...READS_BY_POST, ...CHANGES_BY_GET, ...WITH_SECRETS];

export function changesSomething({ id, method }: Operation): boolean {
  return method === 'GET' ? CHANGES_BY_GET.includes(id) : !READS_BY_POST.includes(id);
}

export function answersSecret({ id }: Operation): boolean {
  return WITH_SECRETS.includes(id);
}

export function operationsOf(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [read(method, path, operation)] : [];
    }),
  );
}

function read(method: string, path: string, operation: OperationObject): Operation {
  const { security = [] } = operation;
  const takesSession = security.length === 0 || security.some((schemes) => 'session' in schemes);
  const [first = {}] = security;
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags?.[0] ?? '',
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content['application/json']?.schema,
    answers: Object.entries(operation.responses).map(([status, answer]) => ({
      status,
      description: answer.description ?? '',
      codes: codesOf(answer.content?.['application/json']?.schema),
      content: Object.entries(answer.content ?? {}).map(([type, { schema }]) => [type, schema]),
      headers: Object.entries(answer.headers ?? {}).map(([name, header]) => [name, header.description ?? '']),
    })),
    permission: Object.values(first)[0]?.[0] ?? 'anyone',
    takesSession,
    schemes: Object.keys(first),
  };
}

/** A failure is described by its shape together with the codes that `error`, or `error.code` for OpenAI clients, can have. */
function codesOf(schema: Schema | undefined): string[] {
  const errors = schema?.allOf?.map(({ properties }) => properties?.error) ?? [];
  const codes = errors.flatMap((error) => error?.enum ?? error?.properties?.code?.enum ?? []);
  return codes.filter((code) => typeof code === 'string');
}

export function groupByTag(operations: Operation[]): Group[] {
  const tags = new Set([...TAGS, ...operations.map(({ tag }) => tag)]);
  return [...tags]
    .map((tag) => ({ tag, operations: operations.filter((operation) => operation.tag === tag) }))
    .filter((group) => group.operations.length > 0);
}

/** The operations that contain every word of `keyword` in method, path, name or description. */
export function matching(operations: Operation[], keyword: string): Operation[] {
  const words = keyword.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ id, method, path, tag, summary, description }) => {
    const text = `${method} ${path} ${id} ${tag} ${summary} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
