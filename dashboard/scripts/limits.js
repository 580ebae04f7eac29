// Writes src/api/serverLimits.ts: the limits of the API, read from openapi.json.
import { readFileSync, writeFileSync } from 'node:fs';

const LIMITS = ['minLength', 'maxLength', 'minimum', 'maximum'];
const UPPER = ['maxLength', 'maximum'];

const document = JSON.parse(readFileSync('openapi.json', 'utf8'));
const { Role, ...schemas } = document.components.schemas;

function limitsOf(field) {
  if (!UPPER.some((name) => name in field)) return undefined;
  return Object.fromEntries(LIMITS.filter((name) => name in field).map((name) => [name, field[name]]));
}

function ofEach(object, map) {
  const entries = Object.entries(object).map(([name, value]) => [name, map(value)]);
  const kept = entries.filter(([, value]) => value !== undefined);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

const requests = ofEach(schemas, ({ properties }) => properties && ofEach(properties, limitsOf));
const roles = Object.fromEntries(Role['x-enum-varnames'].map((name, index) => [name, Role.enum[index]]));

const constant = (name, value) => `export const ${name} = ${JSON.stringify(value, undefined, 2)} as const;\n`;
writeFileSync(
  'src/api/serverLimits.ts',
  [
    '// Generated from openapi.json by scripts/limits.js. Not committed.\n',
    constant('roles', roles),
    '/** What limits no single field. */',
    constant('limits', document['x-limits']),
    '/** The limits of the fields of requests, by schema. */',
    constant('requestLimits', requests),
  ].join('\n'),
);
