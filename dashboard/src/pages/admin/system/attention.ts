import type { System } from '../../../api/adminSystem';
import { joined } from '../../../format/space';
import { formatDuration, formatRelative } from '../../../format/time';
import { texts } from '../../../texts';
import { settingName } from '../settings/settingText';
import { jobName, STALLED_MINUTES, stalledJobs } from './jobs';
import { serverNames, serversOf } from './servers';

const words = texts.adminSystem.attention;

const HOUR = 3600;
const DAY = 24 * HOUR;
const OLD_BACKUP_SECONDS = 2 * DAY;
const OLD_ARCHIVE_SECONDS = HOUR;
const FEW_PARTITIONS = 2;
const OVERDUE_SECONDS = 120;

/** Something that an operator has to look at. */
export interface Attention {
  key: string;
  /** `bad`: now. `warn`: within a day. */
  tone: 'bad' | 'warn';
  title: string;
  /** What it means, and what to do. */
  hint: string;
  /** What differs, by server or by name. */
  values?: { key: string; name: string; value: string }[];
}

/** What needs attention, the most urgent first. The alerts of ops/prometheus have the same conditions. */
export function attentionOf(system: System): Attention[] {
  const all = [
    violations(system),
    ...degraded(system),
    readOnly(system),
    overdue(system),
    archiver(system),
    ...settings(system),
    versions(system),
    backup(system),
    partitions(system),
    defaultPartition(system),
    jobs(system),
  ];
  const found = all.filter((one) => one !== undefined);
  return [...found.filter(({ tone }) => tone === 'bad'), ...found.filter(({ tone }) => tone === 'warn')];
}

type Found = Attention | undefined;

function violations({ proof }: System): Found {
  const violated = proof.invariants.filter(({ violations }) => violations > 0);
  if (violated.length === 0) return undefined;
  const { value, ...text } = words.violations;
  const values = violated.map(({ name, violations }) => ({ key: name, name, value: value(violations) }));
  return { key: 'violations', tone: 'bad', ...text, values };
}

function degraded(system: System): Attention[] {
  return system.degraded.map((code) =>
    code === 'not_durable'
      ? { key: code, tone: 'bad', ...words.notDurable }
      : { key: code, tone: 'bad', title: words.degraded.title(code), hint: words.degraded.hint },
  );
}

function readOnly({ database }: System): Found {
  return database.is_writable ? undefined : { key: 'read_only', tone: 'bad', ...words.readOnly };
}

function overdue({ database: { reservations_overdue_seconds: seconds } }: System): Found {
  if (seconds <= OVERDUE_SECONDS) return undefined;
  const { title, hint } = words.overdue;
  return { key: 'overdue', tone: 'warn', title: title(formatDuration(seconds)), hint };
}

/** Where the log is archived, a restore ends at the last file. */
function archiver({ time, database, backup }: System): Found {
  if (!database.archiver_fails) return undefined;
  const { title, titleSince, hint } = words.archiver;
  const age = backup?.source === 'archiver' ? time - backup.time : 0;
  return age > OLD_ARCHIVE_SECONDS
    ? { key: 'archiver', tone: 'bad', title: titleSince(formatDuration(age)), hint }
    : { key: 'archiver', tone: 'warn', title, hint };
}

function settings(system: System): Attention[] {
  const nameOf = serverNames(serversOf(system), words.withDetail);
  const { title, hint } = words.settings;
  return system.differing_settings.map(({ name, values }) => {
    const label = settingName(name);
    const both = label === name ? name : words.withDetail(label, name);
    const shown = values.map(({ server_id, value }) => ({
      key: server_id,
      name: nameOf.get(server_id) ?? server_id,
      value: value || words.settings.empty,
    }));
    return { key: `setting ${name}`, tone: 'warn', title: title(both), hint, values: shown };
  });
}

/** An upgrade that is under way, or forgotten. */
function versions(system: System): Found {
  const running = serversOf(system).filter(({ running }) => running);
  const programs = new Set(running.map((server) => `${server.version} ${server.newest_migration}`));
  if (programs.size < 2) return undefined;
  const nameOf = serverNames(running, words.withDetail);
  const values = running.map(({ id, version, newest_migration }) => ({
    key: id,
    name: nameOf.get(id) ?? id,
    value: words.version(version, newest_migration),
  }));
  return { key: 'versions', tone: 'warn', ...words.versions, values };
}

function backup({ time, backup }: System): Found {
  if (!backup) return { key: 'backup', tone: 'warn', ...words.noBackup };
  const age = time - backup.time;
  // An idle database has nothing to archive; that the archiver fails is said apart.
  if (backup.source === 'archiver' || age <= OLD_BACKUP_SECONDS) return undefined;
  const { title, hint } = words.oldBackup;
  return { key: 'backup', tone: 'warn', title: title(formatDuration(age)), hint };
}

function partitions({ database: { partitions_ahead_days: days } }: System): Found {
  if (days >= FEW_PARTITIONS) return undefined;
  const { title, hint } = words.partitions;
  return { key: 'partitions', tone: 'warn', title: title(days), hint };
}

function defaultPartition({ database: { default_partition_rows: rows } }: System): Found {
  if (rows === 0) return undefined;
  const { title, hint } = words.defaultPartition;
  return { key: 'default_partition', tone: 'warn', title: title(rows), hint };
}

function jobs(system: System): Found {
  const stalled = stalledJobs(system);
  if (stalled.length === 0) return undefined;
  const { title, hint, elsewhere, lastSuccess, neverSucceeded } = words.jobs;
  const isAlone = serversOf(system).filter(({ running }) => running).length === 1;
  const values = stalled.map(({ name, last_success_time: last }) => ({
    key: name,
    name: jobName(name),
    value: last == null ? neverSucceeded : lastSuccess(formatRelative(last, system.time)),
  }));
  return {
    key: 'jobs',
    tone: 'warn',
    title: title(stalled.length, STALLED_MINUTES),
    hint: joined(hint, isAlone ? '' : elsewhere),
    values,
  };
}
