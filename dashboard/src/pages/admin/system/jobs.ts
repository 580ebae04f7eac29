import type { System } from '../../../api/adminSystem';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

const STALLED_SECONDS = 600;

export const STALLED_MINUTES = STALLED_SECONDS / 60;

export type Job = System['jobs'][number];

export function jobName(name: string): string {
  return textOf(texts.adminSystem.jobs.names, name) ?? name;
}

/** The jobs that have not succeeded for long on the server that answers, which has run for longer. */
export function stalledJobs({ time, server, jobs }: System): Job[] {
  const since = (last: number | null | undefined) => Math.max(last ?? 0, server.started_time);
  return jobs.filter(({ last_success_time }) => time - since(last_success_time) > STALLED_SECONDS);
}
