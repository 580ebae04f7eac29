import { describe, expect, it } from 'vitest';
import type { ApiDocument } from '../../api/apiDocument';
import { codeParts } from './codeParts';
import type { Operation } from './operations';
import { curl, type Draft, missing, target } from './request';

const SCHEMES: ApiDocument['components']['securitySchemes'] = {
  access_token: { type: 'apiKey', in: 'header', name: 'Authorization' },
  gateway: { type: 'http' },
};

const operation: Operation = {
  id: 'edit',
  method: 'PATCH',
  path: '/api/things/{id}',
  tag: 'things',
  summary: '',
  description: '',
  parameters: [
    { name: 'id', in: 'path', required: true },
    { name: 'q', in: 'query' },
    { name: 'prefer', in: 'header' },
  ],
  body: { type: 'object' },
  answers: [],
  permission: 'signed_in',
  takesSession: true,
  schemes: ['access_token'],
};

function draft(overrides: Partial<Draft> = {}): Draft {
  return { parameters: {}, body: '{}', credentials: {}, ...overrides };
}

describe('target', () => {
  it('encodes what was typed', () => {
    const parameters = { 'path.id': 'a/b', 'query.q': '100% & more' };
    expect(target(operation, draft({ parameters }))).toBe('/api/things/a%2Fb?q=100%25+%26+more');
  });

  it('leaves out empty parameters', () => {
    expect(target(operation, draft({ parameters: { 'query.q': ' ' } }))).toBe('/api/things/{id}');
  });
});

describe('missing', () => {
  it.each([
    [{}, '{}', { kind: 'parameter', name: 'path.id' }],
    [{ 'path.id': '7' }, '{', { kind: 'body' }],
    [{ 'path.id': '7' }, '{}', undefined],
  ])('%j %s', (parameters, body, expected) => {
    expect(missing(operation, draft({ parameters, body }))).toEqual(expected);
  });
});

describe('curl', () => {
  it('has the method, parameters, headers and body, quoted for a shell', () => {
    const parameters = { 'path.id': '7', 'header.prefer': "it's" };
    const body = '{\n  "name": "Ben\'s"\n}';
    expect(curl(operation, draft({ parameters, body }), SCHEMES, 'https://keys.example.org')).toBe(
      [
        "curl -X PATCH 'https://keys.example.org/api/things/7'",
        '-H "Authorization: $ACCESS_TOKEN"',
        "-H 'content-type: application/json'",
        "-H 'prefer: it'\\''s'",
        `-d '{"name":"Ben'\\''s"}'`,
      ].join(' \\\n  '),
    );
  });

  it('does not contain the credentials of the form', () => {
    const charge = { ...operation, schemes: ['gateway'], takesSession: false };
    const command = curl(charge, draft({ credentials: { gateway: 'secret' } }), SCHEMES, '');
    expect(command).not.toContain('secret');
    expect(command).toContain('-H "Authorization: Bearer $GATEWAY"');
  });
});

it('codeParts', () => {
  expect(codeParts('a `b` c, a [`D`].')).toEqual([
    { code: false, text: 'a ' },
    { code: true, text: 'b' },
    { code: false, text: ' c, a ' },
    { code: true, text: 'D' },
    { code: false, text: '.' },
  ]);
});
