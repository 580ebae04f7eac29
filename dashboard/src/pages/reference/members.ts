import type { ApiDocument, Schema } from '../../api/apiDocument';

/** A member of a JSON object. */
export interface Member {
  name: string;
  /** As in code: `integer`, `string[]`, `object | null`. */
  type: string;
  required: boolean;
  description: string;
  /** The values that it can have, if they are listed. */
  values: string[];
  members: Member[];
}

/** What is left of a schema after references, `allOf` and `oneOf`. */
interface Resolved {
  types: string[];
  description: string;
  required: Set<string>;
  properties: Map<string, Schema>;
  items?: Schema;
  /** The values of an object with any names. */
  others?: Schema;
  values: string[];
}

type Schemas = ApiDocument['components']['schemas'];

const MAX_DEPTH = 8;
/** A longer list, such as that of all error codes, is left out. */
const MAX_VALUES = 12;

/** The members of a JSON object, or of the objects of an array. */
export function membersOf(schema: Schema, schemas: Schemas, depth = 0): Member[] {
  if (depth > MAX_DEPTH) return [];
  const { properties, required, items, others } = resolve(schema, schemas);
  if (items) return membersOf(items, schemas, depth);
  if (others) return [memberOf('*', others, false, schemas, depth)];
  return [...properties].map(([name, member]) => memberOf(name, member, required.has(name), schemas, depth));
}

function memberOf(name: string, schema: Schema, required: boolean, schemas: Schemas, depth: number): Member {
  const { description, values } = resolve(schema, schemas);
  return {
    name,
    type: typeText(schema, schemas),
    required,
    description,
    values: values.length > MAX_VALUES ? [] : values,
    members: membersOf(schema, schemas, depth + 1),
  };
}

export function typeText(schema: Schema, schemas: Schemas): string {
  const { types, items } = resolve(schema, schemas);
  const names = types.map((type) => (type === 'array' && items ? `${typeText(items, schemas)}[]` : type));
  return names.join(' | ') || 'any';
}

/** A body to begin with: the required members, or if there are none, all of them as `null`, which is the default. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const { types, properties, required } = resolve(schema, schemas);
  switch (types[0]) {
    case 'object': {
      const names = [...properties.keys()];
      const kept = names.filter((name) => required.has(name));
      if (kept.length === 0) return Object.fromEntries(names.map((name) => [name, null]));
      return Object.fromEntries(kept.map((name) => [name, exampleOf(properties.get(name) ?? {}, schemas)]));
    }
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    default:
      return null;
  }
}

function resolve(schema: Schema, schemas: Schemas, depth = 0): Resolved {
  const found: Resolved = {
    types: schema.type === undefined ? [] : [schema.type].flat(),
    description: schema.description ?? '',
    required: new Set(schema.required),
    properties: new Map(Object.entries(schema.properties ?? {})),
    items: schema.items,
    others: typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined,
    values: (schema.enum ?? []).map(String),
  };
  if (depth > MAX_DEPTH) return found;
  const target = schema.$ref && schemas[schema.$ref.split('/').at(-1) ?? ''];
  const parts = [...(target ? [target] : []), ...(schema.allOf ?? [])].map((part) =>
    resolve(part, schemas, depth + 1),
  );
  for (const part of parts) {
    add(found, part);
    for (const name of part.required) found.required.add(name);
  }
  const choices = (schema.oneOf ?? []).map((choice) => resolve(choice, schemas, depth + 1));
  for (const choice of choices) add(found, choice);
  // Required only if it is in every kind of object.
  const objects = choices.filter(({ properties }) => properties.size > 0);
  for (const name of objects[0]?.required ?? [])
    if (objects.every(({ required }) => required.has(name))) found.required.add(name);
  return found;
}

function add(found: Resolved, part: Resolved) {
  found.types = [...new Set([...found.types, ...part.types])];
  found.description ||= part.description;
  for (const [name, member] of part.properties)
    if (!found.properties.has(name)) found.properties.set(name, member);
  found.items ??= part.items;
  found.others ??= part.others;
  found.values = [...new Set([...found.values, ...part.values])];
}
