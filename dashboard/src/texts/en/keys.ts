export const keys = {
  title: 'Keys',
};
