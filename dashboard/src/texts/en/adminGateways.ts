export const adminGateways = {
  title: 'Gateways',
};
