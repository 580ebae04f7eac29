export const adminAudit = {
  title: 'Audit log',
};
