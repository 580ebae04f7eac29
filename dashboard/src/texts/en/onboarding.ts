export const onboarding = {
  progress: (done: string, all: string) => `${done} of ${all} done`,
  done: '(done)',
  dismiss: 'Hide these steps',
  user: {
    title: 'Get started',
    createAction: 'Create a key',
    copyAction: 'Open your keys',
    steps: {
      create: {
        title: 'Create your first key',
        hint: 'A program needs a key to call the API. The key’s quota caps what the program can spend.',
      },
      copy: {
        title: 'Copy it into your program',
        hint: 'The key’s page has examples for curl, Python and Node.js.',
      },
      call: {
        title: 'Make your first request',
        hint: 'This step is done when your gateway charges the key for the first time.',
      },
    },
  },
  administrator: {
    title: 'Set up Keymeter',
    settingsAction: 'Show the settings',
    gatewayAction: 'Add a gateway',
    usersAction: 'Add people',
    steps: {
      gateway: {
        title: 'Connect your gateway',
        hint: 'Your LLM gateway needs a credential to check keys and to charge them.',
      },
      groups: {
        title: 'Define groups',
        hint: 'Groups have their own prices. They are in the settings file, under [groups].',
      },
      models: {
        title: 'List your models',
        hint: 'People can then pick models for their keys. The setting is models.names.',
      },
      users: {
        title: 'Add people',
        hint: 'Create their accounts and top up their wallets.',
      },
    },
  },
};
