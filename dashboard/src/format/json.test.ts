import { describe, expect, it } from 'vitest';
import { formatJson, jsonError, memberText, withMember } from './json';

const FILE =
  '{"providers":["a"],"models":{"o3":{"input_mtok":0.12345678901234567890,"output_mtok":1e-7},"x \\"y\\" {":{}}}';

describe('JSON', () => {
  it('is put on lines with all digits of its numbers', () => {
    const lines = [
      '{',
      '  "providers": ["a"],',
      '  "models": {',
      '    "o3": { "input_mtok": 0.12345678901234567890, "output_mtok": 1e-7 },',
      '    "x \\"y\\" {": {}',
      '  }',
      '}',
    ];
    expect(formatJson(FILE)).toBe(lines.join('\n'));
    expect(formatJson(formatJson(FILE))).toBe(lines.join('\n'));
    expect(formatJson('{}')).toBe('{}');
  });

  it('has lines that are short', () => {
    const long = { a: 'x'.repeat(50), b: ['y'.repeat(50), true, null] };
    const lines = formatJson(JSON.stringify(long)).split('\n');
    expect(lines).toHaveLength(4);
    expect(JSON.parse(lines.join(''))).toEqual(long);
  });

  it('gives the text of a member', () => {
    const answer = `{"success":true,"file":1,"data":{"number":7,"file":${FILE},"data_bytes":0}}`;
    expect(memberText(answer, ['data', 'file'])).toBe(formatJson(FILE));
    expect(memberText(answer, ['data', 'nothing'])).toBeUndefined();
  });

  it('gets a member, unless it has it', () => {
    expect(withMember('{}', ['models'], 'a "b"', '{"input_mtok":"…"}')).toBe(
      '{\n  "models": {\n    "a \\"b\\"": { "input_mtok": "…" }\n  }\n}',
    );
    const changed = withMember(FILE, ['models'], 'o4', '{}');
    expect(Object.keys(JSON.parse(changed).models)).toEqual(['o4', 'o3', 'x "y" {']);
    expect(changed).toContain('0.12345678901234567890');
    expect(withMember(FILE, ['models'], 'o3', '{}')).toBe(formatJson(FILE));
  });

  it('is looked at where it is wrong', () => {
    expect(jsonError(FILE)).toBeUndefined();
    expect(jsonError('{\n  "a": 1,\n  b\n}')).toEqual({ line: 3 });
    expect(jsonError('')).toBeDefined();
  });
});
