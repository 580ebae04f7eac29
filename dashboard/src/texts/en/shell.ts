export const shell = {
  skipToContent: 'Skip to content',
  openNavigation: 'Open the navigation',
  closeNavigation: 'Close the navigation',
  navigation: 'Main',
  administration: 'Administration',
  account: (name: string) => `Account of ${name}`,
  roles: { user: 'User', administrator: 'Administrator', root: 'Root' },
  profile: 'Profile',
  signOut: 'Sign out',
  colorScheme: { label: 'Colour scheme', light: 'Light', dark: 'Dark', auto: 'Like the system' },
  connection: {
    unreachable: 'The server cannot be reached. Trying again by itself; what you typed stays here.',
    unavailable: 'The server is busy or restarting. Trying again by itself; what you typed stays here.',
  },
  notFound: {
    title: 'There is nothing here',
    hint: 'The address may be misspelled, or what was here is gone.',
    home: 'Go to the overview',
  },
  notAllowed: {
    title: 'Only for administrators',
    hint: 'Your account may not see this page.',
  },
  crashed: {
    title: 'This page stopped working',
    hint: 'That is a mistake in the dashboard, not yours. Loading the page anew usually helps.',
    stale: 'The page could not be loaded. The dashboard may have been renewed, or the connection is away.',
    reload: 'Load anew',
  },
};
