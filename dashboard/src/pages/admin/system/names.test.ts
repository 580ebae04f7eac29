import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { texts } from '../../../texts';
import { jobName } from './jobs';

const { jobs, now, proof } = texts.adminSystem;

const source = (file: string) => readFileSync(new URL(`../../../../../${file}`, import.meta.url), 'utf8');
const names = (file: string, pattern: RegExp) =>
  [...source(file).matchAll(pattern)].map(([, name]) => name ?? '');

it('every job of the server has a name', () => {
  const listed = names('src/service/jobs/mod.rs', /^ {4}Job::\w+\("([a-z -]+)"/gm);
  const apart = ['expire_reservations', 'index_requests'].flatMap((job) =>
    names(`src/service/jobs/${job}.rs`, /const NAME: &str = "([a-z ]+)"/g),
  );
  expect(listed).toHaveLength(20);
  expect(apart).toHaveLength(2);
  expect(Object.keys(jobs.names)).toEqual([...listed, ...apart]);
});

it('every step of a batch has a name and a hint', () => {
  const [list = ''] = names('src/telemetry/recent_figures.rs', /^const STEPS: .* = \[(.*)\];/gm);
  const steps = list.split(', ').map((quoted) => quoted.replaceAll('"', ''));
  expect(Object.keys(now.steps.names)).toEqual(steps);
  expect(Object.keys(now.steps.hints)).toEqual(steps);
});

it('every invariant that is proved has a meaning', () => {
  const proved = names('migrations/0029_servers.sql', /\('(L\d+)'\)/g);
  expect(Object.keys(proof.meanings)).toEqual(proved);
});

it('a job of a newer server is shown by its name', () => {
  expect(jobName('water the plants')).toBe('water the plants');
});
