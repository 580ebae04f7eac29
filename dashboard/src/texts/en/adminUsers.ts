export const adminUsers = {
  title: 'Users',
};
