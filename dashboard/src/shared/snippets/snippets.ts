export const snippetLanguages = ['curl', 'python', 'node'] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Stands for a key that the page does not show. */
export const KEY_PLACEHOLDER = 'YOUR_KEY';

export interface SnippetCall {
  /** The address of this server. */
  origin: string;
  key: string;
}

/** A program that shows what the key has left. This server always knows that, whatever the gateway is. */
export function snippet(language: SnippetLanguage, call: SnippetCall): string {
  return checks[language](call);
}

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

/** A string literal of Python and JavaScript. */
function text(value: string): string {
  return JSON.stringify(value);
}
