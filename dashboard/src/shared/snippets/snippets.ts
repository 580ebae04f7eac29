import type { Token } from '../../api/tokens';

export const snippetLanguages = ['curl', 'python', 'node'] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Stands for a key that the page does not show, and for a model that is not known. */
export const KEY_PLACEHOLDER = 'YOUR_KEY';
export const MODEL_PLACEHOLDER = 'MODEL';

export interface SnippetCall {
  /** The base URL of the gateway. Empty if it is not known: the snippet then checks the key at this server. */
  baseUrl: string;
  /** The address of this server. */
  origin: string;
  key: string;
  model: string;
}

/** A program that makes a first call, in the style of the OpenAI API. */
export function snippet(language: SnippetLanguage, call: SnippetCall): string {
  return call.baseUrl === '' ? checks[language](call) : chats[language](call);
}

/** What a snippet needs besides the language itself. */
export function installCommand(language: SnippetLanguage, baseUrl: string): string | undefined {
  if (baseUrl === '') return undefined;
  return { curl: undefined, python: 'pip install openai', node: 'npm install openai' }[language];
}

const chats: Record<SnippetLanguage, (call: SnippetCall) => string> = {
  curl: ({ baseUrl, key, model }) => `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d ${shell(`{"model": ${text(model)}, "messages": [{"role": "user", "content": "Hello"}]}`)}`,
  python: ({ baseUrl, key, model }) => `from openai import OpenAI

client = OpenAI(
    base_url=${text(baseUrl)},
    api_key=${text(key)},
)
answer = client.chat.completions.create(
    model=${text(model)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
  node: ({ baseUrl, key, model }) => `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${text(baseUrl)},
  apiKey: ${text(key)},
});
const answer = await client.chat.completions.create({
  model: ${text(model)},
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);`,
};

/** The quota of the key, which this server always knows. */
const checks: Record<SnippetLanguage, (call: SnippetCall) => string> = {
  curl: ({ origin, key }) => `curl ${usageUrl(origin)} \\
  -H "Authorization: Bearer ${key}"`,
  python: ({ origin, key }) => `import json
import urllib.request

request = urllib.request.Request(
    ${text(usageUrl(origin))},
    headers={"Authorization": ${text(`Bearer ${key}`)}},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer)["data"])`,
  node: ({ origin, key }) => `const answer = await fetch(${text(usageUrl(origin))}, {
  headers: { Authorization: ${text(`Bearer ${key}`)} },
});
console.log((await answer.json()).data);`,
};

function usageUrl(origin: string): string {
  return `${origin}/api/usage/token/`;
}

/** A string literal of Python, JavaScript and JSON. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** One argument of a shell. */
function shell(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** A model that the key may use. */
export function modelOf(
  { model_limits_enabled, model_limits }: Pick<Token, 'model_limits_enabled' | 'model_limits'>,
  known: string[] | undefined,
): string {
  const allowed = model_limits_enabled ? model_limits.split(',') : known;
  return allowed?.find((name) => name !== '') ?? MODEL_PLACEHOLDER;
}
