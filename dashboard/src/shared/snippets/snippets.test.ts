import { describe, expect, it } from 'vitest';
import { snippet, snippetLanguages } from './snippets';

const CALL = { origin: 'https://keys.example.org', key: 'sk-abc' };

describe('a snippet', () => {
  it.each(snippetLanguages)('in %s checks the quota at this server', (language) => {
    const code = snippet(language, CALL);
    expect(code).toContain('https://keys.example.org/api/usage/token/');
    expect(code).toContain('Bearer sk-abc');
  });

  it('in JavaScript is valid', () => {
    expect(() => new Function(`return async () => {${snippet('node', CALL)}}`)).not.toThrow();
  });
});
