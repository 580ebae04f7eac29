export const adminGateways = {
  title: 'Gateways',
  description:
    'The machines that ask whether a key may be used, and tell what it cost. Each has a credential of its own.',
  create: 'New gateway',
  columns: { name: 'Gateway', made: 'Made', madeBy: 'Made by' },
  byOperator: 'the command line',
  revoke: 'Revoke…',
  revokeLabel: (name: string) => `Revoke ${name}`,
  empty: {
    title: 'No gateways yet',
    hint: 'An LLM gateway, a proxy or your own API needs a credential before it can spend keys.',
  },
  dialog: {
    title: 'New gateway',
    name: 'Name',
    nameHint: 'Which machine it is for',
    nameMissing: 'Type a name.',
    submit: 'Create credential',
    secretTitle: (name: string) => `Credential of ${name}`,
    example: 'Ask whether a key may be used, with the credential in $GATEWAY:',
    copyExample: 'Copy the example',
  },
  revokeDialog: {
    title: (name: string) => `Revoke ${name}?`,
    hint: 'Whatever uses this credential can no longer check, charge or reserve: its requests are answered 401 at once, and the programs behind it stop working until it has a new credential.',
    kept: 'Keys, wallets and what was charged stay as they are.',
    submit: 'Revoke',
    done: (name: string) => `${name} is revoked.`,
  },
};
