export const enablement = {
  title: 'Ask for access',
};
