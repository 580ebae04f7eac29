// Writes src/api/schema.d.ts from openapi.json. Operation ids are left out: they are not on the wire,
// two operations of the document share one, and the types of the first would become those of the second.
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const document = JSON.parse(await readFile('openapi.json', 'utf8'));
for (const methods of Object.values(document.paths)) {
  for (const operation of Object.values(methods)) delete operation.operationId;
}
await writeFile('src/api/schema.d.ts', astToString(await openapiTS(document)));
