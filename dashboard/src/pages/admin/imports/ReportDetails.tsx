import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ImportReport } from '../../../api/adminImports';
import { formatInteger } from '../../../format/locale';
import { formatUsd } from '../../../format/money';
import { texts } from '../../../texts';
import { CountsTable } from './CountsTable';
import { FindingItem } from './FindingItem';
import classes from './ImportsPage.module.css';
import { findingsOf, notMovedOf, sumsOf } from './report';
import { SumsTable } from './SumsTable';
import { noteOf } from './translate';

const words = texts.adminImports;

/** What a run did. */
export function ReportDetails({ report }: { report: ImportReport }) {
  const { usage, notes } = report;
  const sums = sumsOf(report);
  const findings = findingsOf(report);
  const notMoved = notMovedOf(report);
  return (
    <Stack gap="xl">
      <div className={classes.tables}>
        <Part title={words.counts.title}>
          <CountsTable report={report} />
          <Text component="div" size="sm" c="dimmed" mt="sm">
            {usage.accounts > 0 && (
              <div>{words.usage(usage.requests, usage.accounts, formatUsd(usage.quota))}</div>
            )}
            {usage.present > 0 && <div>{words.usagePresent(usage.present)}</div>}
          </Text>
        </Part>
        <Part title={words.sums.title}>
          <SumsTable sums={sums} />
          <Text component="div" size="sm" c="dimmed" mt="sm">
            <div>{words.sums.ofThisRun}</div>
            {sums.some(({ there, here }) => there !== here) && <div>{words.sums.differ}</div>}
          </Text>
        </Part>
      </div>
      <Part title={words.changed.title}>
        <Text size="sm" c="dimmed" mb="xs">
          {findings.length === 0 ? words.changed.none : words.changed.ids}
        </Text>
        <ul className={classes.findings}>
          {findings.map((finding) => (
            <FindingItem key={finding.code} finding={finding} />
          ))}
        </ul>
      </Part>
      {notMoved.length > 0 && (
        <Part title={words.notMoved}>
          <ul className={classes.findings}>
            {notMoved.map(({ kind, name, count }) => (
              <li key={kind} className={classes.finding}>
                <span className={classes.count}>{formatInteger(count)}</span> <span>{name}</span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {notes.length > 0 && (
        <Part title={words.notesTitle}>
          {notes.map(noteOf).map(({ text, lang }) => (
            <Text key={text} size="sm" lang={lang}>
              {text}
            </Text>
          ))}
        </Part>
      )}
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={classes.part}>
      <Title order={3} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  );
}
