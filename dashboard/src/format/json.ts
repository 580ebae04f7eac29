// JSON whose numbers keep all of their digits: texts are taken apart and put together without reading them.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const WIDTH = 90;

/** A value: a text, number or word as it is written, or what is in braces and brackets. */
type Value = string | { open: '{' | '['; items: Item[] };

interface Item {
  /** The name of a member, as it is written. */
  name?: string;
  value: Value;
}

/** Valid JSON on lines of its own: what fits a line stays on one. */
export function formatJson(text: string): string {
  return written(read(text), '');
}

/** The text of a member of an object, by the names that lead to it. */
export function memberText(text: string, path: string[]): string | undefined {
  const found = path.reduce<Value | undefined>(
    (value, name) => value && memberOf(value, name)?.value,
    read(text),
  );
  return found && written(found, '');
}

/** An object with another member at its beginning, unless there is one with this name. */
export function withMember(text: string, path: string[], name: string, value: string): string {
  const all = read(text);
  const target = path.reduce((parent, step) => {
    const known = memberOf(parent, step)?.value;
    if (known !== undefined) return known;
    const made: Value = { open: '{', items: [] };
    add(parent, step, made);
    return made;
  }, all);
  if (!memberOf(target, name)) add(target, name, read(value));
  return written(all, '');
}

/** The line of a text that is no JSON, as far as the browser says it. */
export function jsonError(text: string): { line?: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const [, line] = /\bline (\d+)/.exec(String(error)) ?? [];
    const [, position] = /\bposition (\d+)/.exec(String(error)) ?? [];
    if (line) return { line: Number(line) };
    return position ? { line: text.slice(0, Number(position)).split('\n').length } : {};
  }
}

function memberOf(value: Value, name: string): Item | undefined {
  if (typeof value === 'string') return undefined;
  return value.items.find((item) => item.name !== undefined && JSON.parse(item.name) === name);
}

function add(parent: Value, name: string, value: Value) {
  if (typeof parent !== 'string') parent.items.unshift({ name: JSON.stringify(name), value });
}

function read(text: string): Value {
  const tokens = text.match(TOKEN) ?? [];
  let next = 0;
  const readValue = (): Value => {
    const token = tokens[next++] ?? 'null';
    if (token !== '{' && token !== '[') return token;
    const items: Item[] = [];
    while (next < tokens.length && !/^[}\]]$/.test(tokens[next] ?? '')) {
      const name = token === '{' ? tokens[next] : undefined;
      if (name !== undefined) next += 2;
      items.push({ name, value: readValue() });
      if (tokens[next] === ',') next += 1;
    }
    next += 1;
    return { open: token, items };
  };
  return readValue();
}

function written(value: Value, indent: string): string {
  if (typeof value === 'string') return value;
  const { open, items } = value;
  const close = open === '{' ? '}' : ']';
  if (items.length === 0) return open + close;
  const parts = (within: string) =>
    items.map(({ name, value }) => (name === undefined ? '' : `${name}: `) + written(value, within));
  if (items.every(({ value }) => typeof value === 'string')) {
    const space = open === '{' ? ' ' : '';
    const line = open + space + parts('').join(', ') + space + close;
    if (line.length <= WIDTH) return line;
  }
  const deeper = `${indent}  `;
  return `${open}\n${parts(deeper)
    .map((part) => deeper + part)
    .join(',\n')}\n${indent}${close}`;
}
