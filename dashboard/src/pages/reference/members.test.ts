import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ApiDocument, Schema } from '../../api/apiDocument';
import { exampleOf, type Member, membersOf, typeText } from './members';
import { operationsOf } from './operations';

const document: ApiDocument = JSON.parse(readFileSync('openapi.json', 'utf8'));
const { schemas } = document.components;

const names = (members: Member[]) => members.map(({ name }) => name);
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

describe('membersOf', () => {
  it('shows types, what is required, and the members of members', () => {
    const members = membersOf(ref('CreateBody'), schemas);
    const [name] = members.filter((member) => member.name === 'name');
    expect(name).toMatchObject({ type: 'string | null', required: true, description: '1 to 50 characters.' });
    const [limits] = members.filter((member) => member.name === 'period_limits');
    expect(limits).toMatchObject({ type: 'object | null', required: false });
    expect(names(limits?.members ?? [])).toEqual(['day', 'month', 'week']);
  });

  it('merges the parts of `allOf`, and the kinds of `oneOf`', () => {
    const members = membersOf(ref('OutcomeBody'), schemas);
    expect(names(members)).toEqual(expect.arrayContaining(['success', 'error', 'charged']));
    expect(members.filter(({ required }) => required).map(({ name }) => name)).toEqual(['success']);
  });

  it('shows the values of an object with any names', () => {
    const [data] = membersOf(ref('Envelope_BTreeMap_String_GroupBody'), schemas);
    expect(names(data?.members ?? [])).toEqual(['*']);
    expect(names(data?.members[0]?.members ?? [])).toEqual(['desc', 'ratio']);
  });

  it('ends when a schema contains itself', () => {
    const recursive = { Tree: { type: 'object', properties: { child: ref('Tree') } } };
    expect(names(membersOf(ref('Tree'), recursive))).toEqual(['child']);
  });
});

describe('typeText', () => {
  it.each<[Schema, string]>([
    [{ type: 'integer' }, 'integer'],
    [{ type: ['array', 'null'], items: { type: 'integer' } }, 'integer[] | null'],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{}, 'any'],
  ])('%j', (schema, text) => {
    expect(typeText(schema, schemas)).toBe(text);
  });
});

describe('exampleOf', () => {
  it('has the required members', () => {
    expect(exampleOf(ref('CreateBody'), schemas)).toEqual({ name: '' });
    expect(exampleOf(ref('IdsBody'), schemas)).toEqual({ ids: [] });
  });

  it('has all members if none is required', () => {
    expect(exampleOf(ref('GrantBody'), schemas)).toEqual({ delta: null, note: null, set: null });
  });

  it('exists for every body', () => {
    const bodies = operationsOf(document).flatMap(({ body }) => (body ? [exampleOf(body, schemas)] : []));
    expect(bodies.filter((body) => typeof body !== 'object' || body === null)).toEqual([]);
  });
});
