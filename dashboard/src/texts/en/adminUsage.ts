export const adminUsage = {
  title: 'Usage by everyone',
  requests: 'Requests by everyone',
  description: 'What all keys of all users spend, deleted ones included.',
  user: 'User',
  allUsers: 'All users',
  gateway: 'Gateway',
  allGateways: 'All gateways',
};
