export const adminRequests = {
  title: 'Requests',
};
