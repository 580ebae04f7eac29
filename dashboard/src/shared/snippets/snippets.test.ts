import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { installCommand, modelOf, snippet, snippetLanguages } from './snippets';

const GATEWAY = {
  baseUrl: 'https://llm.example.org/v1',
  origin: 'https://keys.example.org',
  key: 'sk-abc',
  model: 'small',
};
const ALONE = { ...GATEWAY, baseUrl: '' };

describe('a snippet', () => {
  it.each(snippetLanguages)('in %s calls the gateway if its address is known', (language) => {
    const code = snippet(language, GATEWAY);
    for (const part of [GATEWAY.baseUrl, 'sk-abc', 'small']) expect(code).toContain(part);
    expect(code).not.toContain(GATEWAY.origin);
  });

  it.each(snippetLanguages)('in %s else checks the quota at this server', (language) => {
    const code = snippet(language, ALONE);
    expect(code).toContain('https://keys.example.org/api/usage/token/');
    expect(code).toContain('Bearer sk-abc');
    expect(installCommand(language, '')).toBeUndefined();
  });

  it('for a shell passes a body that is JSON, whatever the name of the model', () => {
    const model = `it's "m" \\ $HOME`;
    const code = snippet('curl', { ...GATEWAY, model }).replace('curl ', 'printf "%s\\n" ');
    const lines = execFileSync('sh', ['-c', code], { encoding: 'utf8' }).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '').model).toBe(model);
    expect(lines).toContain('Authorization: Bearer sk-abc');
  });

  it('in JavaScript is valid, whatever the name of the model', () => {
    const code = snippet('node', { ...GATEWAY, model: `"'\\\n\u2028` });
    const script = code.replace(/^import.*$/m, '');
    expect(() => new Function(`return async () => {${script}}`)).not.toThrow();
    expect(() => new Function(`return async () => {${snippet('node', ALONE)}}`)).not.toThrow();
  });
});

describe('the model of a snippet', () => {
  it.each([
    [{ model_limits_enabled: true, model_limits: 'large,small' }, ['other'], 'large'],
    [{ model_limits_enabled: true, model_limits: '' }, ['other'], 'MODEL'],
    [{ model_limits_enabled: false, model_limits: '' }, ['other'], 'other'],
    [{ model_limits_enabled: false, model_limits: '' }, [], 'MODEL'],
    [{ model_limits_enabled: false, model_limits: '' }, undefined, 'MODEL'],
  ])('%j with %j is %s', (token, known, model) => {
    expect(modelOf(token, known)).toBe(model);
  });
});
