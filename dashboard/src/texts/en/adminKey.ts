export const adminKey = {
  back: 'All keys',
  notFound: 'This key doesn’t exist. It may have been deleted. The audit log keeps what happened.',
  toAudit: 'Open the audit log',
  history: {
    title: 'History',
    all: 'Audit log',
    empty: { title: 'No entries', hint: 'Changes to this key appear here.' },
  },
};
