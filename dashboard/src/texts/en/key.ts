export const key = {
  title: 'Key',
};
