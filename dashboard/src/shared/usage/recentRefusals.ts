import type { RecentRefusals } from '../../api/overview';

/** What was refused of one key, about which somebody has to act. The most frequent reason is the first. */
export type Alarm = [RecentRefusals, ...RecentRefusals[]];

export interface QuietRefusals {
  requests: number;
  /** Those with most requests first. */
  reasons: { reason: string; isCured: boolean }[];
}

/** Those about which somebody has to act, by key, and the numbers of the others. The API has the most frequent first. */
export function splitRefusals(all: RecentRefusals[]): { alarms: Alarm[]; quiet: QuietRefusals } {
  const alarms = new Map<number | null | undefined, Alarm>();
  const reasons = new Map<string, { reason: string; isCured: boolean }>();
  let requests = 0;
  for (const refusals of all) {
    const { token_id, reason, cured } = refusals;
    if (refusals.alarming) {
      const alarm = alarms.get(token_id);
      if (alarm) alarm.push(refusals);
      else alarms.set(token_id, [refusals]);
    } else {
      const isCured = cured != null;
      requests += refusals.requests;
      reasons.set(`${reason} ${isCured}`, { reason, isCured });
    }
  }
  return { alarms: [...alarms.values()], quiet: { requests, reasons: [...reasons.values()] } };
}
