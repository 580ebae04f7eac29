export const shell = {
  skipToContent: 'Skip to content',
  openNavigation: 'Open navigation',
  closeNavigation: 'Close navigation',
  navigation: 'Main',
  administration: 'Administration',
  account: (name: string) => `Account of ${name}`,
  roles: { user: 'User', administrator: 'Administrator', root: 'Root' },
  profile: 'Profile',
  signOut: 'Sign out',
  colorScheme: { label: 'Colour scheme', light: 'Light', dark: 'Dark', auto: 'System' },
  connection: {
    unreachable: 'Cannot reach the server. Retrying; your input is kept.',
    unavailable: 'The server is busy or restarting. Retrying; your input is kept.',
  },
  notFound: {
    title: 'Page not found',
    hint: 'Check the address, or go to the overview.',
    home: 'Go to the overview',
  },
  notAllowed: {
    title: 'Administrators only',
    hint: 'Your account does not have access to this page.',
  },
  crashed: {
    title: 'This page stopped working',
    hint: 'The dashboard has an error. Reload the page.',
    stale: 'Cannot load the page. The dashboard may have been updated. Reload it.',
    reload: 'Reload',
  },
};
