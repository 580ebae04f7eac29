import { useQuery } from '@tanstack/react-query';
import { texts } from '../texts';
import { reportResult } from './connection';
import { ApiError } from './error';
import type { components } from './schema';

/** What an operation needs of its caller. A newer server may have more. */
export type Permission = components['schemas']['Permission'];

/** The parts of an OpenAPI 3.1 document that the API reference shows. */
export interface ApiDocument {
  info: { version: string; description?: string };
  paths: Record<string, Partial<Record<string, OperationObject>>>;
  components: {
    schemas: Record<string, Schema>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

export interface OperationObject {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { description?: string; headers?: Record<string, Header>; content?: Content }>;
  /** The permissions by security scheme. Absent for operations that anyone can call. */
  security?: Record<string, string[]>[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Header {
  description?: string;
}

type Content = Record<string, { schema?: Schema }>;

export interface SecurityScheme {
  type: 'apiKey' | 'http';
  /** Of an `apiKey`. */
  in?: 'header' | 'cookie';
  name?: string;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  allOf?: Schema[];
  oneOf?: Schema[];
}

const PATH = '/api/openapi.json';

/** The OpenAPI document of the running server. */
export function useApiDocument() {
  return useQuery({ queryKey: ['api-document'], queryFn: loadDocument, staleTime: Number.POSITIVE_INFINITY });
}

async function loadDocument({ signal }: { signal: AbortSignal }): Promise<ApiDocument> {
  const response = await fetch(PATH, { signal }).catch((reason) => {
    if (signal.aborted) throw reason;
    const failure = new ApiError(0, 'unreachable', texts.common.failure.unreachable);
    reportResult(failure);
    throw failure;
  });
  if (!response.ok) {
    const failure = new ApiError(response.status, 'unexpected_answer', texts.common.failure.unexpected);
    reportResult(failure);
    throw failure;
  }
  return response.json();
}
