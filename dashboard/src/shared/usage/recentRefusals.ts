import type { RecentRefusals } from '../../api/overview';

export interface QuietRefusals {
  requests: number;
  /** Those with most requests first. */
  reasons: string[];
}

/** Those about which somebody has to act, and the numbers of the others. */
export function splitRefusals(all: RecentRefusals[]): { alarming: RecentRefusals[]; quiet: QuietRefusals } {
  const others = all.filter(({ alarming }) => !alarming);
  return {
    alarming: all.filter(({ alarming }) => alarming),
    quiet: {
      requests: others.reduce((sum, { requests }) => sum + requests, 0),
      reasons: [...new Set(others.map(({ reason }) => reason))],
    },
  };
}
