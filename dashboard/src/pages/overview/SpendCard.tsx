import { Group, Paper, SegmentedControl, Skeleton, Title } from '@mantine/core';
import { useState } from 'react';
import type { Overview } from '../../api/overview';
import { SpendChart } from '../../shared/chart/SpendChart';
import { texts } from '../../texts';
import classes from './OverviewPage.module.css';
import { SpendTable } from './SpendTable';

const words = texts.overview.spend;

const views = [
  { value: 'chart', label: words.chart },
  { value: 'table', label: words.table },
];

export function SpendCard({ overview }: { overview: Overview | undefined }) {
  const [view, setView] = useState('chart');
  return (
    <Paper component="section" p="lg" className={classes.two} aria-busy={!overview}>
      <Group justify="space-between" mb="sm">
        <Title order={2}>{words.title}</Title>
        <SegmentedControl aria-label={words.view} data={views} value={view} onChange={setView} />
      </Group>
      <div className={classes.spend}>
        {!overview ? (
          <Skeleton h="100%" />
        ) : view === 'chart' ? (
          <SpendChart daily={overview.daily} today={overview.end_date} />
        ) : (
          <SpendTable daily={overview.daily} />
        )}
      </div>
    </Paper>
  );
}
