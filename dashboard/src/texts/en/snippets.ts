export const snippets = {
  title: 'Use this key',
  languages: 'Language',
  languageNames: { curl: 'curl', python: 'Python', node: 'Node.js' },
  example: 'Example',
  copy: 'Copy example',
  replaceKey: (placeholder: string) => `Replace ${placeholder} with the key.`,
  checksKey: 'The example shows what the key has left. Your programs send their requests to your gateway.',
  askForGateway: 'Ask your administrator for its address.',
};
