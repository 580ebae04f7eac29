export const shell = {
  skipToContent: 'Skip to content',
  openNavigation: 'Open navigation',
  closeNavigation: 'Close navigation',
  navigation: 'Main',
  administration: 'Administration',
  account: (name: string) => `Account: ${name}`,
  roles: { user: 'User', administrator: 'Administrator', root: 'Root' },
  profile: 'Profile',
  signOut: 'Sign out',
  colorScheme: { label: 'Colour scheme', light: 'Light', dark: 'Dark', auto: 'System' },
  language: { label: 'Language' },
  connection: {
    unreachable: 'Can’t reach the server. Retrying; what you typed is kept.',
    unavailable: 'The server is busy or restarting. Retrying; what you typed is kept.',
  },
  notFound: {
    title: 'Page not found',
    hint: 'Check the address, or go back to the overview.',
    home: 'Go to the overview',
  },
  notAllowed: {
    title: 'Administrators only',
    hint: 'Your account can’t open this page.',
  },
  crashed: {
    title: 'This page stopped working',
    hint: 'The dashboard hit an error. Reload the page to go on.',
    stale: 'The dashboard may have been updated, or you may be offline. Reload the page.',
    reload: 'Reload',
  },
};
