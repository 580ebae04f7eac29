export const adminKey = {
  back: 'All keys',
  notFound: 'This key doesn’t exist. It may have been deleted. The audit log keeps what happened.',
  toAudit: 'Open the audit log',
  openOwn: 'Open in your keys',
  created: (key: string, owner: string) => `Created “${key}”. Only ${owner} can read the key.`,
  replace: {
    explanation: (owner: string) =>
      `The key gets a new secret with the same quota, limits and history. Only ${owner} can read it. You choose how long the old one still works.`,
    done: (key: string, owner: string) => `Replaced “${key}”. Only ${owner} can read the new key.`,
  },
  delete: {
    title: (key: string) => `Delete “${key}”?`,
    warning: (owner: string) =>
      `Programs that use this key stop working immediately. ${owner} can restore it for a while.`,
    done: (key: string) => `Deleted “${key}”.`,
  },
  history: {
    title: 'History',
    all: 'Audit log',
    empty: { title: 'No entries', hint: 'Changes to this key appear here.' },
  },
};
